package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/transcript"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// compressResult is the outcome of a Compress as JSON. After a no-op, Reason is set and History is the unchanged
// history. System is the system prompt, absent if the session has none. LLM is absent if the strategy made no model
// call. Token counts are the host's own, not the plugin's. Scripts rely on the names.
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

// compressMetadata is the metadata of a strategy, extended by what the host knows without asking it (REQ-HD-008.5):
// the entry counts before and after, and the name of the strategy. A plugin cannot report these wrongly.
type compressMetadata struct {
	OriginalMessageCount   int    `json:"originalMessageCount"`
	CompressedMessageCount int    `json:"compressedMessageCount"`
	StrategyUsed           string `json:"strategyUsed"`
	sdk.CompressMetadata
}

// compressCommand runs one Compress on a recorded session. It uses [engine.Session.Compress], the same path as a
// manual compression by an agent: the threshold is not consulted, but the result passes the same checks.
func compressCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "compress FILE",
		Short: "Run one compress step and print the result, as JSON",
		Long: `Runs one Compress over a whole session, regardless of the threshold, and prints the result as JSON:
kind "applied" with the new history, or kind "noop" with the reason and the unchanged history. No
file is changed.

FILE is a session in any format that 'thresh convert' reads; '-' is standard input.`,
		Example: `  thresh compress --set model.contextLimit=20000 session.jsonl
  thresh compress --strategy top-down-truncation session.jsonl | jq .metadata`,
		Args: oneFile,
		// A no-op is a success: the strategy looked at the history and found nothing that is worth compressing.
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, err := a.load(cmd, args[0])
			if err != nil {
				return err
			}
			defer h.Close()
			// No pending tokens: nothing but the recorded history would be sent.
			outcome, err := s.Compress(cmd.Context(), nil)
			if err != nil {
				return err
			}
			// Filled in by every Compress that did not fail, no-ops too.
			c := outcome.Compress
			return a.printJSON(compressResult{
				Kind: c.Kind, Reason: c.NoOp, System: transcript.SystemJSON(s.System()),
				History: s.History().Contents(),
				Metadata: compressMetadata{
					OriginalMessageCount: c.EntriesBefore, CompressedMessageCount: c.EntriesAfter,
					StrategyUsed: outcome.Strategy, CompressMetadata: c.Metadata,
				},
				TokensBefore: c.TokensBefore, TokensAfter: c.TokensAfter, LLM: c.LLM,
			})
		},
	}
}
