package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// compressResult is what a Compress did, as JSON. After a no-op, Reason is set and History is unchanged. Token counts
// are the host's own. LLM is absent if the strategy called no model.
type compressResult struct {
	Kind         outcome.Kind      `json:"kind"`
	Reason       sdk.NoOpReason    `json:"reason,omitempty"`
	System       json.RawMessage   `json:"system,omitempty"`
	History      []content.Content `json:"history"`
	Metadata     compressMetadata  `json:"metadata"`
	TokensBefore int               `json:"tokensBefore"`
	TokensAfter  int               `json:"tokensAfter"`
	LLM          *outcome.Spent    `json:"llm,omitempty"`
}

// compressMetadata is a strategy's metadata, with the figures that the host fills in itself.
type compressMetadata struct {
	OriginalMessageCount   int    `json:"originalMessageCount"`
	CompressedMessageCount int    `json:"compressedMessageCount"`
	StrategyUsed           string `json:"strategyUsed"`
	sdk.CompressMetadata
}

// optimizeResult is what an Optimize would do, as JSON. Positions refer to the history as given.
type optimizeResult struct {
	Removals     []int                   `json:"removals"`
	Replacements map[int]content.Content `json:"replacements"`
	Reasons      map[int]sdk.Reason      `json:"reasons,omitempty"`
	Metadata     sdk.DensityMetadata     `json:"metadata"`
}

func tryCommand(a *app) *cobra.Command {
	var step string
	var apply bool
	steps := []string{string(outcome.RungCompress), string(outcome.RungOptimize)}
	cmd := &cobra.Command{
		Use:   "try FILE",
		Short: "Run one step of a strategy on a whole session and print the result, as JSON",
		Long: `Runs one step of a strategy on a whole session and prints the result as JSON. No file is changed.

compress, the default, runs whatever the threshold is: it prints kind "applied" with the new
history, or kind "noop" with the reason and the unchanged history. optimize, the prune step of a
continuous strategy, prints the positions of removed entries, the changed entries with their new
content, the reasons that the strategy gives, and counts.

Plugins in a directory that --plugin-dir names are run as they are: each build, without a lock.
A process that --attach names is the strategy, unless another one is named.

FILE is a session in any format that 'thresh sessions convert' reads; '-' is standard input.`,
		Example: `  thresh plugins try --set model.contextLimit=20000 session.jsonl
  thresh plugins try --strategy top-down-truncation session.jsonl | jq .metadata
  thresh plugins try --step optimize --strategy high-density session.jsonl
  thresh plugins try --apply session.json > smaller.json`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			run := a.tryCompress
			switch step {
			case steps[0]:
			case steps[1]:
				run = a.tryOptimize
			default:
				return usage(cmd, fmt.Errorf("--step is compress or optimize, not %q", step))
			}
			h, err := a.openToTry(cmd, false)
			if err != nil {
				return err
			}
			defer h.Close()
			s, err := a.loadSession(cmd, h, args[0])
			if err != nil {
				return err
			}
			result, history, err := run(cmd, s)
			if err != nil {
				return err
			}
			if apply {
				system, err := s.System()
				if err != nil {
					return err
				}
				return a.writeHistory(args[0], system, history)
			}
			return a.printJSON(result)
		},
	}
	cmd.Flags().StringVar(&step, "step", steps[0], "run `STEP`: compress or optimize")
	cmd.Flags().BoolVar(&apply, "apply", false, "print the resulting history in the native form instead")
	complete(cmd, "step", steps...)
	return cmd
}

// tryCompress runs a compression as an agent's request does, with the same checks.
func (a *app) tryCompress(cmd *cobra.Command, s *window.Session) (any, []content.Content, error) {
	o, err := s.Compress(cmd.Context(), nil)
	if err != nil {
		return nil, nil, err
	}
	now, err := s.History()
	if err != nil {
		return nil, nil, err
	}
	system, err := s.System()
	if err != nil {
		return nil, nil, err
	}
	c, history := o.Compress, now.Contents()
	return compressResult{
		Kind: c.Kind, Reason: c.NoOp, System: api.Prompt(system...), History: history,
		Metadata: compressMetadata{
			OriginalMessageCount: c.EntriesBefore, CompressedMessageCount: c.EntriesAfter,
			StrategyUsed: o.Strategy, CompressMetadata: c.Metadata,
		},
		TokensBefore: c.TokensBefore, TokensAfter: c.TokensAfter, LLM: c.LLM,
	}, history, nil
}

func (a *app) tryOptimize(cmd *cobra.Command, s *window.Session) (any, []content.Content, error) {
	plan, o, err := s.PlanOptimize(cmd.Context())
	if err != nil {
		return nil, nil, err
	}
	result := optimizeResult{Removals: plan.Removals, Replacements: plan.Replacements, Reasons: plan.Reasons, Metadata: o.Metadata}
	if result.Removals == nil {
		result.Removals = []int{} // scripts get a list, never null
	}
	return result, plan.Contents(), nil
}

// loadSession reads a session from a file into a new session of h. Todo lists are reconstructed from the recorded tool
// calls, as strategies keep what open tasks need.
func (a *app) loadSession(cmd *cobra.Command, h *window.Host, name string) (*window.Session, error) {
	ctx := cmd.Context()
	t, err := a.read(ctx, name)
	if err != nil {
		return nil, err
	}
	s, err := h.Open(window.Opening{Settings: replay.Settings(h, t, nil)})
	if err != nil {
		return nil, err
	}
	a.warnings(name, t.Notes)
	var tasks todos.Tracker
	for _, c := range t.Entries {
		tasks.Observe(c)
	}
	if err := s.SetTodos(ctx, tasks.Todos()); err != nil {
		return nil, err
	}
	if err := s.SetSystem(ctx, t.System...); err != nil {
		return nil, err
	}
	// Load, not Add: Add refuses entries that cannot be sent to a model, and recordings have such entries.
	_, err = s.Add(ctx, window.Addition{Entries: t.Entries, Judge: window.Anything})
	return s, err
}

// writeHistory prints entries, and the system prompt, in the native form. It buffers the output: an error leaves no
// partial file that looks complete.
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
