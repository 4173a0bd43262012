package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/metric"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/network"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/metrics"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/buildinfo"
)

// The life of a wrapped agent: a host and a proxy in this process, the agent as its child with the terminal.
// wrap_clients.go has how each agent is told of the proxy.

type wrapFlags struct {
	// dryRun sends the agent's own requests. print starts no agent: it prints the variables for one that is started
	// elsewhere.
	dryRun, print bool
	listen        string
}

func wrapCommand(a *app) *cobra.Command {
	var f wrapFlags
	cmd := &cobra.Command{
		Use:   "wrap [flags] COMMAND [ARGUMENT…]",
		Short: "Start an agent with its conversation going through thresh",
		Long:  wrapHelp(),
		Example: `  thresh wrap claude
  thresh wrap --dry-run codex exec "fix the failing test"
  thresh --set model.contextLimit=200000 wrap opencode
  thresh wrap --print`,
		RunE: func(cmd *cobra.Command, args []string) error {
			// The operating system's error for an empty command names nothing.
			if len(args) == 0 && !f.print {
				return usage(cmd, errors.New("needs a COMMAND to start, such as claude"))
			}
			return a.wrap(cmd, f, args)
		},
	}
	// What follows the command is the command's: cobra would take the agent's flags for its own, or refuse them.
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false,
		"send the agent's own requests, and say what would have been saved")
	cmd.Flags().BoolVar(&f.print, "print", false,
		"start no agent: print the variables for one that is started elsewhere, and serve until a signal")
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "`ADDRESS` of the proxy; port 0 picks a free one")
	return cmd
}

func wrapHelp() string {
	var b strings.Builder
	b.WriteString(`Starts a proxy for model APIs and then the agent, with variables that make the agent use it. The
agent's conversation goes through a host: it is pruned, compressed and kept under the model's
context limit by the strategy in compression.strategy. No file of yours is changed, and the agent's
key is passed on and never stored.

These agents are known by the name of their command:

`)
	for _, w := range agents {
		fmt.Fprintf(&b, "  %-10s %s\n", w.command, w.how)
	}
	b.WriteString(`
Any other command gets all of these variables. Requests go to the address that the variable had
before, else to proxy.upstreams.anthropic, .openai and .gemini.

Terminal, signals and exit status are the agent's. When it has ended, a line on standard error says
what was saved, and another one what was used of your plan (Claude, Codex), if the provider tells.
'thresh top --total' adds up what runs saved. Warnings of the host are printed then, so that they do
not disturb the agent's display.`)
	return b.String()
}

// wrap runs a host, a proxy, and the agent. An error before the agent starts is the command's; from then on the agent's
// status is the result, and what went wrong in the host is printed after it.
func (a *app) wrap(cmd *cobra.Command, f wrapFlags, command []string) error {
	// Before anything is started: that it never made a request would be true, but not why.
	if err := f.check(cmd, command, a.place); err != nil {
		return err
	}
	if f.print && len(command) > 0 {
		for _, flag := range misplaced(cmd, command[1:]) {
			fmt.Fprintf(a.err, "thresh: %s stands after the agent's name and goes to it: flags of thresh come before\n", flag)
		}
	}
	w := &wrapped{app: a, wrapFlags: f, command: command, token: rand.Text(), open: access.LoopbackName(f.listen)}
	// Without a command (--print) any agent may come: it gets the variables of all.
	if len(command) > 0 {
		w.name = command[0]
	}
	w.client = wrappingOf(w.name)
	if w.past = w.client.goesPast(command, a.place); w.past != "" {
		fmt.Fprintln(a.err, "thresh: "+w.past)
	}
	meter, stop, err := w.openHost(cmd)
	defer stop()
	if err != nil {
		return err
	}
	if err := w.openProxy(cmd.Context(), meter); err != nil {
		return errors.Join(err, w.host.Close())
	}
	return w.serve(cmd.Context())
}

func (f wrapFlags) check(cmd *cobra.Command, command []string, in place) error {
	if !f.print {
		if _, err := in.lookPath(command[0]); err != nil {
			return fmt.Errorf("the agent cannot be started: %w", err)
		}
	}
	if _, _, err := net.SplitHostPort(f.listen); err != nil {
		return usage(cmd, fmt.Errorf("--listen: want HOST:PORT: %w", err))
	}
	if !access.LoopbackName(f.listen) && !f.print {
		return usage(cmd, errors.New("--listen: an agent that is started here needs no address but loopback"))
	}
	if len(command) == 0 || !slices.ContainsFunc(wrappingOf(command[0]).variables, func(v variable) bool {
		return v.name == opencodeContent
	}) {
		return nil
	}
	_, err := opencodeOwn(in.getenv(opencodeContent))
	return err
}

// misplaced returns the flags of thresh among an agent's arguments. With --print no agent gets them.
func misplaced(cmd *cobra.Command, arguments []string) (flags []string) {
	for _, arg := range arguments {
		name, _, _ := strings.Cut(arg, "=")
		if long, ok := strings.CutPrefix(name, "--"); ok && cmd.Flags().Lookup(long) != nil {
			flags = append(flags, name)
		}
	}
	return flags
}

// wrapped is a run of 'thresh wrap': the host, its proxy, and what the agent is told of them.
type wrapped struct {
	*app
	wrapFlags
	command []string
	name    string // of the agent's command; "" with --print for any
	client  wrapping
	past    string // why the agent's requests will not come through the proxy, if that is known

	// On loopback only this machine reaches the proxy, and agents cannot show a token to a model's API: it is open.
	// From elsewhere clients must show the token, as what comes through the proxy is spent at the provider.
	open  bool
	token string

	held  heldLog // the agent has the terminal: the host's log is held until it ends
	log   hclog.Logger
	host  *window.Host
	proxy *proxy.Server
	seen  *watch.Recorder
	used  *access.Guard // notes what was saved in the host's store
	at    proxyAt

	listener net.Listener
}

// openHost opens the host by the settings. stop ends its measurements.
func (w *wrapped) openHost(cmd *cobra.Command) (meter metric.MeterProvider, stop func(), err error) {
	stop = func() {}
	c, attach, err := w.loadAttached(cmd)
	if err != nil {
		return nil, stop, err
	}
	set := c.Settings()
	w.log = window.DefaultLogger(&w.held, set.Log)
	w.limitMemory(cmd.Context(), set.Sessions.MaxMemory)
	meter, end, err := w.measure(set.Metrics.Listen, w.log)
	if err != nil { // such as another one at the same address: no reason not to start the agent
		w.log.Warn("nothing is measured", "error", err)
	} else {
		stop = end
	}
	w.host, err = window.Open(window.Options{
		Config: c, Logger: w.log, Attach: attach, Meter: meter, Keep: true,
	})
	if err != nil {
		return nil, stop, err
	}
	// Each request would fail with it, and the user would be told when the agent has ended.
	if err := w.host.CheckStart(cmd.Context()); err != nil {
		return nil, stop, errors.Join(err, w.host.Close())
	}
	return meter, stop, nil
}

// openProxy makes the proxy and opens its address, before the agent's first request.
func (w *wrapped) openProxy(ctx context.Context, meter metric.MeterProvider) error {
	// Before the variables are changed for the agent: they say where its requests go.
	upstreams, passed, err := upstreamsFor(w.host.Config(), w.client, w.place)
	if err != nil {
		return err
	}
	for _, setting := range passed {
		w.say(hclog.Warn, setting)
	}
	measured, err := metrics.NewProxy(meter, buildinfo.Version())
	if err != nil {
		return err
	}
	// In a dry run nothing is removed, and an agent's requests are its own.
	var recall *proxy.Recall
	if !w.dryRun && !w.client.asksNothing(w.command) && w.host.Config().Settings().Proxy.Recall {
		recall = &proxy.Recall{}
	}
	shown := filepath.Base(cmp.Or(w.name, "wrap")) // in 'thresh top'
	if w.dryRun {
		shown += dryRunName
	}
	w.used = access.NewGuard(w.host.Store(), "", w.log.Named("access"))
	note := w.used.Note
	if w.dryRun { // nothing was saved
		note = nil
	}
	w.seen = watch.New(w.host, shown, note)
	w.proxy = proxy.New(proxy.Options{Host: w.host, Upstreams: upstreams, Client: w.client.provider, DryRun: w.dryRun,
		Recall: recall, Measured: measured, Watch: w.seen, Open: w.open, Logger: w.log.Named("proxy"),
		Guard: access.NewGuard(store.NewMemory(), w.token, w.log.Named("access"))})
	w.listener, err = net.Listen("tcp", w.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	w.at = proxyAt{base: "http://" + w.listener.Addr().String()}
	if recall != nil {
		w.at.token = w.token
	}
	return nil
}

// serve serves the proxy until the agent has ended, or with --print until a signal, and prints what was saved.
func (w *wrapped) serve(ctx context.Context) error {
	// 'thresh top' and the page /ui ask this same server, with the announced token.
	server, here := w.proxy.Server(), announce(w.host.Config().Settings().Serve.TokenFile, w.at.base)
	defer here.withdraw()
	server.Handler = w.seen.Before(server.Handler, here.Token, w.open)
	// The agent decides what an interrupt means: until it has ended, it needs the proxy.
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	// An agent that was killed may have left requests in progress.
	go func() { served <- network.Run(serving, server, w.listener, nil, time.Second, w.log) }()
	err := ctx.Err()
	switch {
	case w.print:
		w.printVariables()
		<-ctx.Done()
		err = nil
	case err == nil:
		err = runWrapped(w.client, w.command, w.at, w.app)
	}
	// In this order: the door ends, then the conversations, then the host with its plugins. The totals are complete
	// only after the last request.
	end()
	err = errors.Join(err, <-served)
	w.proxy.Close()
	closed := errors.Join(w.used.Close(), w.host.Close())
	t := w.proxy.Totals()
	if set := w.host.Config().Settings(); set.Sessions.Store == "memory" && !w.dryRun { // a store that outlives the run has it
		closed = errors.Join(closed, noteSaved(set.Serve.TokenFile, t))
	}
	w.held.print(w.err)
	if t.Requests+t.Others > 0 || !w.client.asksNothing(w.command) {
		fmt.Fprintln(w.err, "thresh: "+summary(t, w.proxy.Plan(""), w.dryRun, w.past))
	}
	return errors.Join(err, closed)
}

// printVariables prints what an agent must have in its environment, as a shell reads it. Only these lines are on
// standard output, for eval.
func (w *wrapped) printVariables() {
	for _, set := range append(w.client.values(w.at, w.place), w.client.others...) {
		name, value, _ := strings.Cut(set, "=")
		// JSON has quotes and braces; no value has a single quote.
		if strings.ContainsAny(value, `"{`) {
			value = "'" + value + "'"
		}
		fmt.Fprintf(w.out, "export %s=%s\n", name, value)
	}
	var args []string
	if w.client.arguments != nil {
		args = w.client.arguments(w.at.base, w.place)
	}
	if w.at.token != "" && w.client.recall != nil {
		args = append(args, w.client.recall(w.at.base)...)
	}
	if len(args) > 0 {
		fmt.Fprintf(w.out, "# %s needs these arguments: '%s'\n", w.client.command, strings.Join(args, "' '"))
	}
	if !w.open {
		fmt.Fprintf(w.out, "# Clients elsewhere must send this header: X-Thresh-Token: %[1]s\n"+
			"# or have /t/%[1]s before the path of their base URL.\n", w.token)
	}
	fmt.Fprintln(w.err, "thresh: proxy at "+w.at.base+"; interrupt to end it")
}
