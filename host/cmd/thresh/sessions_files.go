package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// exportCommand prints byte for byte what was added: an import elsewhere is the same conversation.
func (s *sessions) exportCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "export ID", Short: "Print a whole session as a transcript",
		Long: `Prints a session as it was added, before any strategy changed it: an entry a line in the native
form, each with its id. This is the format of transcript.dir, which 'thresh explain', 'compare' and
all other commands read. Of a damaged session it prints what was added before the damage, and
fails.`,
		Example: `  thresh sessions export s1 > s1.jsonl
  thresh sessions export s1 --file s1.jsonl && thresh explain s1.jsonl`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return s.withStore(cmd, false, func(ctx context.Context, _ *config.Config, kept store.Store) error {
				// From the log and not from a session: it has what strategies removed, and no plugin has to start.
				key, err := s.key(ctx, cmd, kept, given[0])
				if err != nil {
					return err
				}
				all, damage := journal.Read(ctx, kept, key)
				if damage != nil && len(all.Added) == 0 {
					return missing(damage, given[0])
				}
				print := func(to io.Writer) error {
					w := bufio.NewWriter(to)
					// The system prompt is a line of its own, which replays count but which is no entry.
					if len(all.System) > 0 {
						_, _ = w.Write(append(transcriptlog.AppendSystem(nil, all.System), '\n'))
					}
					for _, e := range all.Added {
						_, _ = w.Write(append(transcriptlog.AppendEntry(nil, e.ID, e.Content), '\n'))
					}
					return w.Flush()
				}
				if file == "" {
					return errors.Join(print(s.out), damage)
				}
				// Private: tools may have printed secrets into the conversation.
				return errors.Join(atomicfile.Write(s.path(file), atomicfile.Private, print), damage)
			})
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "write to `FILE`, which only you can read, instead of standard output")
	return cmd
}

// importCommand gives the entries new ids, as every session names its own. Nothing is pruned on the way in.
func (s *sessions) importCommand() *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Store a conversation as a new session",
		Long: `Stores a conversation as a session, to go on with it: a file in any format that 'thresh sessions
convert' reads. '-' is standard input. It prints the session's id: that of --id, or the recorder's,
or a random one.`,
		Example: `  thresh sessions import session.jsonl --id s2`,
		Args:    args(oneFile),
		RunE: func(cmd *cobra.Command, given []string) error {
			t, err := s.read(cmd.Context(), given[0])
			if err != nil {
				return err
			}
			s.warnings(given[0], t.Notes)
			if id == "" {
				id = t.ID
			}
			return s.withStore(cmd, true, func(ctx context.Context, c *config.Config, kept store.Store) (err error) {
				// An existing session would be continued, which is not what import promises.
				if _, err := kept.Head(ctx, store.Key{Owner: s.owner, ID: id}); !errors.Is(err, store.ErrNotFound) {
					if err == nil {
						err = fmt.Errorf("there is a session %q: choose another --id", id)
					}
					return err
				}
				// A host and not the store alone: it counts tokens and writes the records.
				h, err := window.Open(window.Options{
					Config: c, Logger: window.DefaultLogger(s.err, c.Settings().Log), Store: kept,
				})
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, h.Close()) }()
				session, err := h.Open(window.Opening{Key: store.Key{Owner: s.owner, ID: id}})
				if err != nil {
					return err
				}
				// Before the entries: every later turn counts it.
				if len(t.System) > 0 {
					if err := session.SetSystem(ctx, t.System...); err != nil {
						return err
					}
				}
				if _, err := session.Add(ctx, window.Addition{Entries: t.Entries, Judge: window.Anything}); err != nil {
					return err
				}
				_, err = fmt.Fprintln(s.out, session.ID())
				return err
			})
		},
	}
	cmd.Flags().StringVar(&id, "id", "", "the session's `ID`")
	return cmd
}
