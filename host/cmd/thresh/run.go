package main

import (
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/stdio"
)

func runCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Serve the host to an agent in any language: JSON-RPC 2.0 on standard input and output",
		Long: `Serves many sessions over JSON-RPC 2.0, one message a line. Requests of one session take effect in the order in which they
arrive; history.add never waits for a window.prepare. Logs go to standard error. It ends at the end of input, or by a
signal, with every plugin gone.

  session.open    {id?, settings?}            → {session}
  session.set     {session, key, value}       → {}
  history.add     {session, entries}          → {revision, tokens}
  window.prepare  {session, pendingTokens?}   → {history, tokens, revision, outcome}
  todos.set       {session, todos}            → {}
  usage.report    {session, promptTokens}     → {}
  history.get     {session}                   → {history, tokens, revision}
  session.close   {session}                   → {}

Entries are in the native form: {"speaker": "human", "blocks": [{"type": "text", "text": "…"}]}.`,
		Example: `  echo '{"jsonrpc":"2.0","id":1,"method":"session.open"}' | thresh run`,
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer h.Close()
			return stdio.Serve(cmd.Context(), h, a.in, a.out)
		},
	}
}
