package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/lab/explain"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// explained is the JSON form of the command: the explanation of one session, with its source.
type explained struct {
	// File and Format are a recording's; both are empty with Session.
	File   string            `json:"file,omitempty"`
	Format transcript.Format `json:"format,omitempty"`
	// Session is the id of a stored session, which has no file.
	Session string `json:"session,omitempty"`
	explain.Explanation
}

// statusMade is the name that --only uses for entries that the strategy made. It is not a status of the explanation:
// such an entry is kept, trimmed or removed later, like any other.
const statusMade = "made"

// explainCommand answers the question that users of a pruning tool ask first: "why is the model no longer aware of X?"
func explainCommand(a *app) *cobra.Command {
	var only []string
	var turn int
	var source *sources
	stored := &sessions{app: a}
	var session string
	cmd := &cobra.Command{
		Use:   "explain [FILE]",
		Short: "Show what happened to each entry of a session, and why",
		Long: `Replays a recorded session as 'thresh compare' does, and shows what happened to each entry:
whether it stands as it was, or before which turn it was trimmed or removed, by which rule of the
strategy, which entry superseded it, and its tokens before and after. A step other than pruning
(compress, a rung of the ladder) is named with the rule. What the agent itself had compacted is said
to be so, and is in no sum. Entries that the strategy made, such as
summaries, are shown where it put them and marked with +. An entry that a provider would refuse is
shown with the reason why it was withheld. The second table adds up what each rule saved, the last
two where the tokens are: by tool, and by file that a call reads or writes, each with the responses.

Entries are counted from 0, as everywhere in thresh. With --turn N the table shows the request of
turn N.

With --session, the table shows a stored session (sessions.store): what really happened to it, as
its log says. Nothing is replayed. Each time that something was added counts as a turn.`,
		Example: `  thresh explain
  thresh explain session.jsonl
  thresh explain --only removed,trimmed --set model.contextLimit=30000 session.jsonl
  thresh explain -o json session.jsonl | jq '.rules'
  thresh explain --session s1 --only removed`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, status := range only {
				if !slices.Contains(statuses(), status) {
					return usage(cmd, fmt.Errorf("--only takes %s, not %q", strings.Join(statuses(), ", "), status))
				}
			}
			if turn < 0 || turn == 0 && cmd.Flags().Changed("turn") { // 0 as the default means "to the end"
				return usage(cmd, fmt.Errorf("--turn counts from 1, got %d", turn))
			}
			var x explained
			var err error
			if session != "" {
				if len(args) > 0 {
					return usage(cmd, errors.New("takes a FILE or --session, not both"))
				}
				x, err = stored.explain(cmd, session, turn)
			} else {
				x, err = a.explain(cmd, source, args, turn)
			}
			if err != nil {
				return err
			}
			x.show(only)
			return a.show(x, func() error { return a.printExplanation(x) })
		},
	}
	cmd.Flags().StringSliceVar(
		&only, "only", nil, "show only entries with these `STATUSES`: "+strings.Join(statuses(), ", "),
	)
	cmd.Flags().IntVar(&turn, "turn", 0, "stop at request `N`, counted from 1")
	complete(cmd, "only", statuses()...)
	source = a.addSources(cmd, 1)
	stored.addSession(cmd, &session)
	a.addOutput(cmd)
	a.addColumns(cmd, explainColumns)
	return cmd
}

func statuses() []string {
	return []string{string(explain.Kept), string(explain.Trimmed), string(explain.Removed), statusMade}
}

// explain replays the session with a recorder attached. The taxonomy is the session's own: descriptions of entries name
// the files that tool calls touch, by the rules by which strategies prune them.
func (a *app) explain(cmd *cobra.Command, source *sources, given []string, turn int) (explained, error) {
	h, err := a.open(cmd)
	if err != nil {
		return explained{}, err
	}
	defer h.Close()
	taxonomy, err := window.Taxonomy(h.Config().Settings())
	if err != nil {
		return explained{}, err
	}
	// After the host is open: wrong settings are reported before a large file is read.
	files, err := a.files(cmd, source, given)
	if err != nil {
		return explained{}, err
	}
	file := files[0]
	t, err := a.read(cmd.Context(), file)
	if err != nil {
		return explained{}, err
	}
	a.warnings(file, t.Notes)
	bar := newProgress(a.err)
	x, err := explain.Run(cmd.Context(), h, t, explain.Options{
		Turn: turn, Taxonomy: taxonomy, Progress: func(done, of int) { bar.show(displayName(file), done, of) },
	})
	// Also after an error, or its message would be written behind the bar.
	bar.clear()
	if err != nil {
		return explained{}, fmt.Errorf("%s: %w", displayPath(file), err)
	}
	return explained{File: file, Format: t.Format, Explanation: x}, nil
}

// explain reads what happened to a stored session. It starts no plugin: the log has the reasons that the strategy gave.
func (s *sessions) explain(cmd *cobra.Command, id string, turn int) (x explained, err error) {
	err = s.withStore(cmd, false, func(ctx context.Context, c *config.Config, kept store.Store) error {
		taxonomy, err := window.Taxonomy(c.Settings())
		if err != nil {
			return err
		}
		x.Session = id
		key, err := s.key(ctx, cmd, kept, id)
		if err != nil {
			return err
		}
		set := c.Settings().Model
		counter, err := tokens.For(set.Name, set.Encoding)
		if err != nil {
			return err
		}
		x.Explanation, err = explain.Stored(ctx, kept, key, turn, taxonomy, counter)
		return missing(err, id)
	})
	return x, err
}

// show reduces the entries to those with the given statuses; none means all. The rules are unchanged: their sums are
// about the session, not about the selection.
func (x *explained) show(only []string) {
	if len(only) == 0 {
		return
	}
	// Entries that the strategy made are chosen by "made" alone, even if they were changed later.
	hidden := func(s explain.Status) bool { return !slices.Contains(only, string(s)) }
	x.Entries = slices.DeleteFunc(x.Entries, func(e explain.Entry) bool { return hidden(e.Status) })
	if hidden(statusMade) {
		x.Made = nil
	}
}
