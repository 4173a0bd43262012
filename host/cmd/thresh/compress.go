package main

import (
	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// compressResult is what came of a Compress, as JSON.
type compressResult struct {
	Kind         outcome.Kind      `json:"kind"`
	Reason       sdk.NoOpReason    `json:"reason,omitempty"`
	History      []content.Content `json:"history"`
	Metadata     compressMetadata  `json:"metadata"`
	TokensBefore int               `json:"tokensBefore"`
	TokensAfter  int               `json:"tokensAfter"`
	LLM          *outcome.Spent    `json:"llm,omitempty"`
}

// compressMetadata is a strategy's metadata with what the host knows itself (REQ-HD-008.5).
type compressMetadata struct {
	OriginalMessageCount   int    `json:"originalMessageCount"`
	CompressedMessageCount int    `json:"compressedMessageCount"`
	StrategyUsed           string `json:"strategyUsed"`
	sdk.CompressMetadata
}

func compressCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "compress FILE",
		Short: "Run one compress step and print the result, as JSON",
		Long: `Runs one Compress over a whole session, whatever the threshold says, and prints the result as JSON: kind "applied" with
the new history, or kind "noop" with the reason and the unchanged history. No file is changed.

FILE is a session in any format that 'thresh convert' reads; '-' is standard input.`,
		Example: `  thresh compress --set model.contextLimit=20000 session.jsonl
  thresh compress --strategy top-down-truncation --set compression.threshold=0.5 session.jsonl | jq .metadata`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, err := a.load(cmd, args[0])
			if err != nil {
				return err
			}
			defer h.Close()
			outcome, err := s.Compress(cmd.Context(), nil)
			if err != nil {
				return err
			}
			c := outcome.Compress
			return a.printJSON(compressResult{
				Kind: c.Kind, Reason: c.NoOp, History: s.History().Contents(),
				Metadata: compressMetadata{
					OriginalMessageCount: c.EntriesBefore, CompressedMessageCount: c.EntriesAfter,
					StrategyUsed: outcome.Strategy, CompressMetadata: c.Metadata,
				},
				TokensBefore: c.TokensBefore, TokensAfter: c.TokensAfter, LLM: c.LLM,
			})
		},
	}
}
