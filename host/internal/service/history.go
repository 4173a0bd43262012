package service

import (
	"context"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// HistoryAnswer is the owned history. History is never null.
type HistoryAnswer struct {
	History  []content.Content `json:"history"`
	Tokens   int               `json:"tokens"`
	Revision uint64            `json:"revision"`
}

// History returns what the hosts of the store own, including what is not sent to a model.
func (s *Session) History(ctx context.Context, r Moment) (HistoryAnswer, error) {
	upTo, err := s.host.Refresh(ctx, r.UpTo)
	if err != nil {
		return HistoryAnswer{}, err
	}
	h, err := s.host.HistoryAt(upTo)
	if err != nil {
		return HistoryAnswer{}, err
	}
	return HistoryAnswer{h.Entries, h.Tokens, h.Revision}, nil
}

// RecordedRequest has the id of an entry (e12) or of a tool call.
type RecordedRequest struct {
	Of
	ID string `json:"id" jsonschema:"of an entry (e17), or of a tool call, which returns the call and its responses"`
}

// RecordedAnswer has the entries as they were added; the id of a call finds the call and its responses.
type RecordedAnswer struct {
	Entries []content.Content `json:"entries"`
}

// Recorded reads from the disk what was added under an id. It can be called at any time: what was recorded never
// changes.
func (s *Session) Recorded(ctx context.Context, r RecordedRequest) (RecordedAnswer, error) {
	if r.ID == "" {
		return RecordedAnswer{}, wrongRequest("id", `"id" is missing`)
	}
	entries, err := s.host.Originals(ctx, r.ID)
	return RecordedAnswer{entries}, err
}

// ExplainRequest has the id of an entry (e12) or of a tool call; "" is all entries.
type ExplainRequest struct {
	Of
	ID string `json:"id,omitempty" jsonschema:"of an entry (e17) or of a tool call; absent for all entries"`
}

// ExplainAnswer has changes in the order in which they were made; it is never null.
type ExplainAnswer struct {
	Changes []outcome.Logged `json:"changes" jsonschema:"as changes in an outcome, with strategy and the log's revision"`
}

// Explain reads from the store what became of entries, and why.
func (s *Session) Explain(ctx context.Context, r ExplainRequest) (ExplainAnswer, error) {
	changes, err := s.host.Explain(ctx, r.ID)
	return ExplainAnswer{append([]outcome.Logged{}, changes...)}, err
}
