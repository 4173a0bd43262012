package main

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/host/internal/transcript"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Besides the command, this file has how a recorded session becomes a session of a host, which compress needs too.

// densityResult is the JSON form of an Optimize's result (REQ-HD-001.5 defines the three fields). Positions refer to
// the history as given. Removals is [] rather than null when nothing was removed, for the sake of scripts. Replacements
// are by position, and JSON makes text of the keys.
type densityResult struct {
	Removals     []int                   `json:"removals"`
	Replacements map[int]content.Content `json:"replacements"`
	Metadata     sdk.DensityMetadata     `json:"metadata"`
}

// optimizeCommand runs one Optimize on a recorded session. It computes the plan and commits nothing: the output is
// either the plan (positions and replacements) or, with --apply, the history that the plan would produce.
func optimizeCommand(a *app) *cobra.Command {
	var apply bool
	cmd := &cobra.Command{
		Use:   "optimize FILE",
		Short: "Run one prune step and print what it removes, as JSON",
		Long: `Runs one Optimize (the prune step) of a continuous strategy over a whole session and prints the
result as JSON: the positions of removed entries, the changed entries with their new content, and
counts. No file is changed.

FILE is a session in any format that 'thresh convert' reads; '-' is standard input.`,
		Example: `  thresh optimize session.jsonl
  thresh optimize --set compression.density.recencyPruning=true session.jsonl
  thresh optimize --apply session.json > smaller.json`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, err := a.load(cmd, args[0])
			if err != nil {
				return err
			}
			defer h.Close()
			// PlanOptimize changes nothing in the session. The plan is therefore the same whether or not it is
			// applied below.
			plan, outcome, err := s.PlanOptimize(cmd.Context())
			if err != nil {
				return err
			}
			// Contents is a copy of the history with the plan applied.
			if apply {
				return a.writeHistory(args[0], s.System(), plan.Contents())
			}
			result := densityResult{
				Removals: plan.Removals, Replacements: plan.Replacements, Metadata: outcome.Metadata,
			}
			if result.Removals == nil {
				result.Removals = []int{}
			}
			return a.printJSON(result)
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "print the resulting history in the native form instead")
	return cmd
}

// load opens a host with one session that holds a recorded session. The caller closes the host, which ends the
// session as well. On an error nothing is left open. Commands that run one step of a strategy on a whole session use
// it: optimize and compress.
func (a *app) load(cmd *cobra.Command, name string) (*engine.Host, *engine.Session, error) {
	h, err := a.open(cmd)
	if err != nil {
		return nil, nil, err
	}
	s, err := a.loadSession(cmd.Context(), h, name)
	if err != nil {
		h.Close()
		return nil, nil, err
	}
	return h, s, nil
}

// loadSession reads a session from a file into a new session of h. Todo lists are reconstructed from the recorded
// tool calls first, as strategies get them along with the history: a live agent would have set them.
func (a *app) loadSession(ctx context.Context, h *engine.Host, name string) (*engine.Session, error) {
	// Before the session is opened, so that a missing file leaves nothing behind.
	t, err := a.read(ctx, name)
	if err != nil {
		return nil, err
	}
	// The recording may say in which directory the agent worked; relative paths of its calls then refer to that.
	s, err := h.Session(engine.SessionOptions{Settings: replay.Settings(h, t, nil)})
	if err != nil {
		return nil, err
	}
	a.warnings(name, t.Notes)
	// Strategies keep what open tasks need; without the list they would prune differently from how they did for the
	// agent.
	var tasks todos.Tracker
	for _, c := range t.Entries {
		tasks.Observe(c)
	}
	if err := s.SetTodos(tasks.Todos()); err != nil {
		return nil, err
	}
	if err := s.SetSystem(ctx, t.System...); err != nil {
		return nil, err
	}
	// Load, not Add: Add refuses entries that cannot be sent to a model, and recordings have such entries.
	_, _, err = s.Load(ctx, t.Entries...)
	return s, err
}

// writeHistory prints entries, and the system prompt, in the native form. It buffers the output, so that an error
// leaves no partial file that looks complete. Notes on what the form cannot hold go to standard error under the input's
// name.
func (a *app) writeHistory(name string, system []content.Block, entries []content.Content) error {
	var out bytes.Buffer
	notes, err := transcript.Write(&out, &transcript.Transcript{System: system, Entries: entries}, transcript.Native)
	if err != nil {
		return err
	}
	a.notes(name, notes)
	_, err = a.out.Write(out.Bytes())
	return err
}
