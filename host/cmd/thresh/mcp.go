package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
)

// mcpCommand serves the tool with which an agent reads a removed result again. It starts no strategy and opens no
// session: what was recorded never changes, so it is read from the store next to the host that writes it.
func (s *sessions) mcpCommand() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Give an agent back what was removed: an MCP server on standard input and output",
		Long: `Serves the Model Context Protocol with one tool, ` + mcp.Tool + `, which returns a removed result
by the id of its tool call or of its entry, from one of the sessions that sessions.store keeps.

An agent that runs through 'thresh wrap' needs none of this: with proxy.recall, the proxy serves the
tool at /mcp, puts ids into the places of removed results, and tells the agent. 'thresh serve' has
it at /mcp as well.`,
		Example: `  thresh --set proxy.recall=true wrap claude
  claude mcp add thresh -- thresh sessions mcp --session chat-1`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Ids of calls repeat from one session to the next.
			if session == "" {
				return usage(cmd, errors.New("needs --session ID: the session of which removed results are read"))
			}
			// true creates the store: an agent may start this server before the host that writes the sessions.
			return s.withStore(cmd, true, func(ctx context.Context, _ *config.Config, kept store.Store) error {
				server := mcp.Server{Recall: func(ctx context.Context, id string) ([]content.Content, error) {
					found, err := engine.FindRecorded(ctx, kept, store.Key{Owner: s.owner, ID: session}, id)
					return found, missing(err, session)
				}, Panicked: func(p any) error {
					fmt.Fprintf(s.err, "thresh: %v\n%s", p, debug.Stack())
					return &engine.PanicError{Method: mcp.Tool, Value: p}
				}}
				return server.Serve(ctx, s.in, s.out)
			})
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "the session with this `ID`; required")
	return cmd
}
