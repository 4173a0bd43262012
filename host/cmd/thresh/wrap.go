package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/network"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/metrics"
	"github.com/thresh-dev/thresh/host/internal/store"
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
	for _, w := range wrapped {
		fmt.Fprintf(&b, "  %-10s %s\n", w.command, w.how)
	}
	b.WriteString(`
Any other command gets all of these variables. Requests go to the address that the variable had
before, else to proxy.upstreams.anthropic, .openai and .gemini.

Terminal, signals and exit status are the agent's. When it has ended, one line on standard error
says what was saved. Warnings of the host are printed then, so that they do not disturb the agent's
display.`)
	return b.String()
}

// wrap runs a host, a proxy, and the agent. An error before the agent starts is the command's; from then on the agent's
// status is the result, and what went wrong in the host is printed after it.
func (a *app) wrap(cmd *cobra.Command, f wrapFlags, command []string) error {
	if !f.print {
		// Before anything is started: that it never made a request would be true, but not why.
		if _, err := exec.LookPath(command[0]); err != nil {
			return fmt.Errorf("the agent cannot be started: %w", err)
		}
	}
	c, err := a.loadConfig(cmd)
	if err != nil {
		return err
	}
	attach, err := a.attach(cmd)
	if err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(f.listen); err != nil {
		return usage(cmd, fmt.Errorf("--listen: want HOST:PORT: %w", err))
	}
	// On loopback only this machine reaches the proxy, and agents cannot show a token to a model's API. From elsewhere
	// clients must show it, as what comes through the proxy is spent at the provider. It is made for this run.
	token, open := rand.Text(), access.LoopbackName(f.listen)
	if !open && !f.print {
		return usage(cmd, errors.New("--listen: an agent that is started here needs no address but loopback"))
	}
	name := ""
	if len(command) > 0 {
		name = command[0]
	}
	// Without a command (--print) any agent may come: it gets the variables of all.
	client := wrappedFor(name)
	set := c.Settings()
	past := client.goesPast(command, os.Getenv)
	if past != "" {
		fmt.Fprintln(a.err, "thresh: "+past)
	}
	// Before the variables are changed for the agent: they say where its requests go.
	upstreams, err := upstreamsFor(c, client, os.Getenv)
	if err != nil {
		return err
	}
	// The agent has the terminal: the host's log is held until it ends.
	held := &heldLog{}
	log := engine.DefaultLogger(held, set.Log)
	meter, stop, err := a.measure(set.Metrics.Listen, log)
	if err != nil { // such as another one at the same address: no reason not to start the agent
		log.Warn("nothing is measured", "error", err)
		stop = func() {}
	}
	defer stop()
	measured, err := metrics.NewProxy(meter, buildinfo.Version())
	if err != nil {
		return err
	}
	h, err := engine.Open(engine.Options{
		Config: c, Logger: log, Attach: attach, Meter: meter, Keep: true, Store: passing(set),
	})
	if err != nil {
		return err
	}
	// Each request would fail with it, and the user would be told when the agent has ended.
	if err := h.CheckStrategy(set.Compression.Strategy); err != nil {
		return errors.Join(err, h.Close())
	}
	recall, err := recallOf(cmd.Context(), h)
	if err != nil {
		return errors.Join(err, h.Close())
	}
	// The name in 'thresh top'.
	shown := filepath.Base(cmp.Or(name, "wrap"))
	if f.dryRun {
		shown += " (dry run)"
	}
	seen := watch.New(h, shown)
	p := proxy.New(proxy.Options{Host: h, Upstreams: upstreams, Client: client.provider, DryRun: f.dryRun,
		Fail: set.Proxy.OnError == "fail", Recall: recall, Measured: measured, Watch: seen,
		Guard: access.NewGuard(store.NewMemory(), token, log.Named("access")), Open: open, Logger: log.Named("proxy")})
	// Before the agent starts: its first request finds a listener, and port 0 is known.
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return errors.Join(fmt.Errorf("--listen: %w", err), h.Close())
	}
	at := proxyAt{base: "http://" + listener.Addr().String()}
	if recall != nil {
		at.token = token
	}
	// 'thresh top' and the page /ui ask this same server, with the announced token.
	server, here := p.Server(), announce(set.Serve.TokenFile, at.base)
	defer here.withdraw()
	server.Handler = seen.Before(server.Handler, here.Token)
	// The agent decides what an interrupt means: until it has ended, it needs the proxy.
	serving, end := context.WithCancel(context.WithoutCancel(cmd.Context()))
	served := make(chan error, 1)
	// An agent that was killed may have left requests in progress.
	go func() { served <- network.Run(serving, server, listener, nil, time.Second, log) }()
	if f.print {
		if open {
			token = ""
		}
		a.printVariables(client, at, token)
		<-cmd.Context().Done()
	} else if err = cmd.Context().Err(); err == nil {
		err = runWrapped(client, command, at, a)
	}
	// In this order: the door ends, then the conversations, then the host with its plugins. The totals are complete
	// only after the last request.
	end()
	err = errors.Join(err, <-served)
	p.Close()
	closed := h.Close()
	held.print(a.err)
	if t := p.Totals(); t.Requests+t.Others > 0 || !client.asksNothing(command) {
		fmt.Fprintln(a.err, "thresh: "+summary(t, f.dryRun, past))
	}
	return errors.Join(err, closed)
}

// printVariables prints what an agent must have in its environment, as a shell reads it. Only these lines are on
// standard output, for eval. token is what every client must show; "" for none.
func (a *app) printVariables(w wrapping, at proxyAt, token string) {
	for _, set := range append(w.values(at), w.others...) {
		name, value, _ := strings.Cut(set, "=")
		// JSON has quotes and braces; no value has a single quote.
		if strings.ContainsAny(value, `"{`) {
			value = "'" + value + "'"
		}
		fmt.Fprintf(a.out, "export %s=%s\n", name, value)
	}
	if w.arguments != nil {
		if args := w.arguments(at.base, os.Getenv); len(args) > 0 {
			fmt.Fprintf(a.out, "# %s needs these arguments: '%s'\n", w.command, strings.Join(args, "' '"))
		}
	}
	if token != "" {
		fmt.Fprintf(a.out, "# Clients elsewhere must send this header: X-Thresh-Token: %[1]s\n"+
			"# or have /t/%[1]s before the path of their base URL.\n", token)
	}
	fmt.Fprintln(a.err, "thresh: proxy at "+at.base+"; interrupt to end it")
}

// exitStatus is the status with which the agent ended; thresh ends with the same. Nothing is printed for it.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("the agent ended with status %d", int(e)) }

// runWrapped runs the agent with this process's terminal, and waits for it. It returns an [exitStatus], or the error
// for which the agent could not be started.
func runWrapped(w wrapping, command []string, at proxyAt, a *app) error {
	agent, end, err := w.start(command, at, os.Environ())
	if err != nil {
		return err
	}
	defer end()
	agent.Stdin, agent.Stdout, agent.Stderr = a.in, a.out, a.err
	if err, ok := a.err.(safeStderr); ok {
		agent.Stderr = err.File // the file itself: a pipe would hide the terminal from the agent
	}
	// A terminal sends its interrupts to the agent as well, which decides what they mean. Signals that only this
	// process gets are passed on. Registered before the start: none ends this process and leaves the agent.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	runtime.LockOSThread() // it is the agent's parent
	defer runtime.UnlockOSThread()
	endWithThis(agent)
	if err := agent.Start(); err != nil {
		return err
	}
	terminal := term.IsTerminal(int(os.Stdin.Fd()))
	ended := make(chan error, 1)
	go func() { ended <- agent.Wait() }()
	for {
		select {
		case s := <-signals:
			// An interrupt from a terminal was delivered to the whole process group: passed on, the agent would get it
			// twice, which many take as the wish to end instead of to stop the current step.
			if !terminal || s == syscall.SIGTERM || s == syscall.SIGHUP {
				_ = agent.Process.Signal(s)
			}
		case err := <-ended:
			return statusOf(err)
		}
	}
}

// statusOf returns the exit status of a process as a shell does: 128 and the signal for one that was killed.
func statusOf(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return exitStatus(128 + int(w.Signal()))
	}
	return exitStatus(exit.ExitCode())
}

// heldLog keeps the first log lines, which say best what went wrong, until the terminal is free. The host's goroutines
// write to it. The zero value holds nothing.
type heldLog struct {
	// mu guards all other fields.
	mu    sync.Mutex
	lines []byte
	more  int // dropped bytes
}

// maxHeld is how much is kept, in bytes: some fifty lines. More would scroll the agent's last words off the screen.
const maxHeld = 8 << 10

// Write keeps a line whole or not at all. It never fails: a log that does not fit must not disturb the host.
func (h *heldLog) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.lines)+len(p) > maxHeld {
		h.more += len(p)
	} else {
		h.lines = append(h.lines, p...)
	}
	return len(p), nil
}

func (h *heldLog) print(to io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = to.Write(h.lines)
	if h.more > 0 {
		fmt.Fprintf(to, "thresh: %d more bytes of log were dropped\n", h.more)
	}
}
