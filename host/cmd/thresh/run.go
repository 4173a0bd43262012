package main

import (
	"fmt"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/door/stdio"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/metrics/endpoint"
)

func runCommand(a *app) *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Serve the host to an agent in any language: JSON-RPC 2.0 on standard input and output",
		Long: `Serves many sessions over JSON-RPC 2.0, one message a line. Requests of one session take effect in the order in which they
arrive; history.add never waits for a window.prepare. Logs go to standard error. It ends at the end of input, or by a
signal, with every plugin gone.

  session.open      {id?, settings?}            → {session}
  session.set       {session, key, value}       → {}
  history.add       {session, entries}          → {revision, tokens}
  window.prepare    {session, pendingTokens?}   → {history, tokens, revision, outcome}
  todos.set         {session, todos}            → {}
  usage.report      {session, promptTokens}     → {}
  history.get       {session}                   → {history, tokens, revision}
  history.recorded  {session, id}               → {entries}: what was added under the id of an entry or of a call
  session.close     {session}                   → {}

An entry's id is the host's own (e1, e2, …, as outcomes name it), whatever fields the entry has; history.recorded needs
transcript.dir.

Entries are in the native form: {"speaker": "human", "blocks": [{"type": "text", "text": "…"}]}.

With metrics.listen it also serves what it measures (turns, tokens, plugins, cost of the model) to Prometheus, under
/metrics; standard error has the address. Nothing of a conversation is in it.`,
		Example: `  echo '{"jsonrpc":"2.0","id":1,"method":"session.open"}' | thresh run
  thresh run --metrics 127.0.0.1:9464`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, done, err := a.openMeasured(cmd, listen)
			if err != nil {
				return err
			}
			defer done()
			return stdio.Serve(cmd.Context(), h, a.in, a.out)
		},
	}
	cmd.Flags().StringVar(&listen, "metrics", "", "short for --set metrics.listen=`ADDRESS`: serve metrics to Prometheus there")
	return cmd
}

// openMeasured opens a host and, with the setting metrics.listen, serves what it measures. The caller calls done.
func (a *app) openMeasured(cmd *cobra.Command, listen string) (h *engine.Host, done func(), err error) {
	var short []config.Override
	if cmd.Flags().Changed("metrics") {
		short = append(short, config.Override{Key: "metrics.listen", Value: listen, Source: "--metrics"})
	}
	options, set, err := a.hostOptions(cmd, short...)
	if err != nil {
		return nil, nil, err
	}
	stop := func() error { return nil }
	if set.Metrics.Listen != "" {
		e, err := endpoint.Listen(set.Metrics.Listen, endpoint.Options{
			Version: engine.Version(), Log: options.Logger.Named("metrics").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Warn}),
		})
		if err != nil {
			return nil, nil, fmt.Errorf("metrics.listen: %w", err)
		}
		fmt.Fprintln(a.err, "thresh: metrics at "+e.URL())
		options.Meter, stop = e.Meter(), e.Close
	}
	if h, err = engine.Open(options); err != nil {
		_ = stop()
		return nil, nil, err
	}
	return h, func() {
		_ = h.Close()
		if err := stop(); err != nil {
			options.Logger.Warn("the metrics endpoint did not end well", "error", err)
		}
	}, nil
}
