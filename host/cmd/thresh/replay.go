package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/transcript"
)

// replayed is the report on one file. After an error, Report holds the turns up to it. Format is "" if the file could
// not be read.
type replayed struct {
	File   string            `json:"file"`
	Format transcript.Format `json:"format,omitempty"`
	replay.Report
	Error string `json:"error,omitempty"`
}

// replayCommand is the quickest way to see what a strategy does to one's own sessions, so it accepts many files and
// continues after one that fails.
func replayCommand(a *app) *cobra.Command {
	var (
		turnTable bool
		source    *sources
	)
	cmd := &cobra.Command{
		Use:   "replay [FILE…]",
		Short: "Run recorded sessions through a strategy, turn by turn, and show what it saves",
		Long: `Runs recorded sessions through the real host and the real plugin. Each time the recorded agent
called its model, the history is pruned and, over the threshold, compressed, as it would have been
for that agent. Where the recorder compacted its own history, the replay goes on with what the
recorder went on with.

SENT is the tokens of all requests together, UNPRUNED what they would have been without a strategy,
and PEAK the largest request. Where a recording has the usage that the provider reported, SENT and
UNPRUNED are on that base, as in 'thresh compare'; turns are as thresh counts them. The table shows
the columns that fit; --columns chooses others, and -o json has everything.

A file that cannot be replayed is reported, and the others are still replayed.`,
		Example: `  thresh plugins replay --last 3
  thresh plugins replay examples/sessions/*.json*
  thresh plugins replay --turns --strategy top-down-truncation session.jsonl
  thresh plugins replay --columns session,saved,compressed,plugin session.jsonl
  thresh plugins replay -o json session.jsonl | jq '.sessions[].totals'`,
		RunE: func(cmd *cobra.Command, given []string) error {
			// One host for all files, but a session for each: only a warm plugin passes from one to the next.
			h, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer h.Close()
			files, err := a.files(cmd, source, given)
			if err != nil {
				return err
			}
			results, failed := a.replayAll(cmd.Context(), h, files)
			report := map[string]any{"sessions": results}
			err = a.show(report, func() error { return a.printReplays(results, turnTable) })
			return errors.Join(err, failed)
		},
	}
	source = a.addSources(cmd, lastCompared)
	cmd.Flags().BoolVar(&turnTable, "turns", false, "show a table of turns for each session")
	a.addOutput(cmd)
	a.addColumns(cmd, replayColumns)
	return cmd
}

// replayAll replays one file after the other: other replays would distort the times. A failure is reported in its
// place, and the command fails at the end. An interruption stops after the current file with the results so far; the
// error that it causes in that file is not printed.
func (a *app) replayAll(ctx context.Context, h *engine.Host, files []string) ([]replayed, error) {
	results := make([]replayed, 0, len(files))
	bar := newProgress(a.err)
	failures := 0
	for _, file := range files {
		r := replayed{File: file}
		t, err := a.read(ctx, file)
		if err == nil {
			a.warnings(file, t.Notes)
			r.Format = t.Format
			r.Report, err = replay.Run(ctx, h, t, replay.Options{
				Progress: func(done, of int) { bar.show(displayName(file), done, of) },
			})
			if err != nil {
				err = fmt.Errorf("%s: %w", file, err)
			}
		}
		bar.clear()
		if err != nil {
			failures++
			r.Error = err.Error()
			if ctx.Err() == nil {
				fmt.Fprintln(a.err, "thresh: "+r.Error)
			}
		}
		results = append(results, r)
		// A session that was complete when the signal came counts, and the next one ends here.
		if ctx.Err() != nil && err != nil {
			fmt.Fprintf(a.err, "thresh: interrupted after %d of %d sessions\n", len(results)-1, len(files))
			return results, errReported
		}
	}
	a.endNotes()
	if failures > 0 {
		return results, errReported
	}
	return results, nil
}
