package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// mcpCommand serves the tool with which an agent reads a removed result again. It starts no strategy and opens no
// session: what was recorded never changes, so it is read from the store next to the host that writes it.
func (s *sessions) mcpCommand() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Give an agent back what was removed: an MCP server on standard input and output",
		Long: `Serves the Model Context Protocol with one tool, ` + mcp.Tool + `, which finds by words what was
removed from one of the sessions that sessions.store keeps, and returns what has the id of a tool
call or of an entry.

An agent that runs through 'thresh wrap' has the tool already. 'thresh serve' has it at /mcp.`,
		Example: `  claude mcp add thresh -- thresh sessions mcp --session chat-1`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Ids of calls repeat from one session to the next.
			if session == "" {
				return usage(cmd, errors.New("needs --session ID: the session of which removed results are read"))
			}
			// true creates the store: an agent may start this server before the host that writes the sessions.
			return s.withStore(cmd, true, func(ctx context.Context, c *config.Config, kept store.Store) error {
				taxonomy, err := window.Taxonomy(c.Settings())
				if err != nil {
					return err
				}
				recall := mcp.Stored(kept, store.Key{Owner: s.owner, ID: session}, taxonomy)
				server := mcp.Server{Recall: func(ctx context.Context, a mcp.Asked) (mcp.Answer, error) {
					found, err := recall(ctx, a)
					return found, missing(err, session)
				}, Panicked: func(p any) error {
					fmt.Fprintf(s.err, "thresh: %v\n%s", p, debug.Stack())
					return &window.PanicError{Method: mcp.Tool, Value: p}
				}}
				return server.Serve(ctx, s.in, s.out)
			})
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "the session with this `ID`; required")
	return cmd
}
