package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/metric"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/door/stdio"
	"github.com/thresh-dev/thresh/host/internal/metrics/endpoint"
	"github.com/thresh-dev/thresh/host/internal/plugins/install"
	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/buildinfo"
)

// JSON-RPC on standard input and output, for an agent that starts thresh as its child. The process ends with its input.

// runCommand serves the JSON-RPC interface. Standard output carries the protocol and nothing else; anything for people
// is on standard error.
func runCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Serve sessions to an agent in any language: JSON-RPC 2.0 on standard input and output",
		Long:  runHelp(),
		Example: `  echo '{"jsonrpc":"2.0","id":1,"method":"session.open"}' | thresh run
  thresh run --set metrics.listen=127.0.0.1:9464`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serve(cmd)
		},
	}
}

// serve runs a host behind JSON-RPC until the input ends or a signal arrives and, with the setting metrics.listen, a
// metrics endpoint over HTTP. The endpoint is opened first: an address already in use fails the command before any
// session exists. Deferred calls run in reverse: the endpoint still serves the metrics of the host's shutdown.
func (a *app) serve(cmd *cobra.Command) error {
	c, attach, err := a.loadAttached(cmd)
	if err != nil {
		a.logger(config.LogOf(err))
		return err
	}
	log := a.logger(c.Settings().Log)
	if err := install.Lacking(c.Settings().Plugins); err != nil {
		return err
	}
	a.limitMemory(cmd.Context(), c.Settings().Sessions.MaxMemory)
	meter, end, err := a.measure(c.Settings().Metrics.Listen, log)
	if err != nil {
		return err
	}
	defer end()
	machine, err := window.Open(window.Options{Config: c, Logger: log, Attach: attach, Meter: meter, Keep: true})
	if err != nil {
		return err
	}
	h := host.Of(machine)
	// The agent would hear of it in its first session.
	if err := h.Check(cmd.Context()); err != nil {
		return errors.Join(err, h.Close())
	}
	alone := proxy.New(proxy.Options{Host: machine, Recall: &proxy.Recall{}, Logger: log})
	err = stdio.Serve(cmd.Context(), h, alone.Alone(access.Grant{}), a.in, a.out, log)
	alone.Close()
	if errors.Is(err, syscall.EPIPE) { // other commands end quietly then; an agent's replies are lost
		err = errors.New("standard output was closed: the program that reads the replies has ended")
	}
	return errors.Join(err, h.Close()) // what was acknowledged and is not in a transcript must be known
}

// measure serves measurements at an address, and exports them to the collector that the environment names, until end is
// called. Without either the meter is nil, and nothing is measured. 'thresh run' fails if nothing can listen there;
// 'thresh wrap' continues without, as its user wants the agent.
func (a *app) measure(address string, log hclog.Logger) (meter metric.MeterProvider, end func(), err error) {
	var e *endpoint.Endpoint
	switch {
	case address != "":
		if e, err = endpoint.Listen(address, a.metrics(log)); err != nil {
			return nil, nil, fmt.Errorf("metrics.listen: %w", err)
		}
		a.say(hclog.Info, "metrics at "+e.URL())
		if !access.LoopbackName(address) {
			a.say(hclog.Warn, "metrics are served to everyone who can reach this address, without authentication")
		}
	case endpoint.Exported(a.getenv):
		if e, err = endpoint.New(a.metrics(log)); err != nil {
			return nil, nil, err
		}
	default:
		return nil, func() {}, nil
	}
	return e.Meter(), func() {
		if err := e.Close(); err != nil {
			log.Warn("metrics endpoint shutdown failed", "error", err)
		}
	}, nil
}

// metrics are the options of what serves and exports measurements.
func (a *app) metrics(log hclog.Logger) endpoint.Options {
	return endpoint.Options{Version: buildinfo.Version(), Getenv: a.getenv,
		// A scraper that hangs up and a collector that is away do no harm.
		Log: log.Named("metrics").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Warn})}
}

// runHelp describes the protocol. What methods are and when they run is made from the rows that doors go by. The rest are
// rules that the rows do not show.
func runHelp() string {
	var b strings.Builder
	b.WriteString(`Serves sessions over JSON-RPC 2.0, one message per line. Logs go to standard error. The command ends
at the end of input or on a signal (SIGINT, SIGTERM, SIGHUP), and stops all plugins first. A second
signal ends it at once.

Methods:

`)
	var atOnce []string
	for _, m := range service.At(api.Run) {
		b.WriteString(helpRow(fmt.Sprintf("%-17s %s", m.Name, service.Members(m.Params)), 50,
			"→ "+service.Members(m.Result)))
		b.WriteString(indented(m.Meaning, 6))
		if m.Order == api.AtOnce {
			atOnce = append(atOnce, m.Name)
		}
	}
	b.WriteString("\n" + indented(`Requests of one session take effect in the order in which they arrive, whether or not the `+
		`agent waits for replies. `+and(atOnce)+` are answered at once, even while a window.prepare runs. A window.prepare `+
		`sees exactly the entries that were sent before it: what is added later is in the next one's answer.`, 0))
	b.WriteString(`
Entries are in the native form: {"speaker": "human", "blocks": [{"type": "text", "text": "…"}]}. The
host gives each entry an id (e1, e2, …), which outcomes refer to.

An error has "data" with its kind, whether a retry can help, and the plugin that failed.

With metrics.listen, turns, tokens, plugins and the cost of the model are served to Prometheus under
/metrics; the address is printed on standard error. Metrics never contain text of a conversation.`)
	return b.String()
}

// indented is a text in lines that fit the help.
func indented(text string, indent int) string {
	space := strings.Repeat(" ", indent)
	return space + strings.ReplaceAll(table.Wrap(text, helpWidth-indent, 0), "\n", "\n"+space) + "\n"
}

func and(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
