package service

import (
	"context"

	"github.com/thresh-dev/thresh/host"
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

// RecordedRequest has the id of an entry (e12), of a mark ([thresh_recall: ID]) or of a tool call.
type RecordedRequest struct {
	Of
	ID string `json:"id" jsonschema:"of an entry (e17), of a mark, or of a tool call, which returns the call and its responses"`
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

// SearchRequest has words to search for, or the place of lines to read.
type SearchRequest struct {
	Of
	Query string `json:"query,omitempty" jsonschema:"words, names, paths; a text in quotes must occur exactly so"`
	// Limit and Tokens are 0 for the defaults.
	Limit  int `json:"limit,omitempty" jsonschema:"most passages; 3 if absent, at most 100"`
	Tokens int `json:"tokens,omitempty" jsonschema:"of all passages; 2,000 if absent, at most 100,000"`
	// Place is nil for a search.
	Place *outcome.Place `json:"place,omitempty" jsonschema:"instead: the lines to read, such as more around a passage"`
}

// The bounds of a search.
const maxPassages, maxTokens = 100, 100_000

// SearchAnswer has the best passage first. Passages is never null.
type SearchAnswer struct {
	Passages []outcome.Passage `json:"passages"`
}

// Search finds passages of what is no longer sent, or reads lines of what was added.
func (s *Session) Search(ctx context.Context, r SearchRequest) (SearchAnswer, error) {
	if r.Place != nil {
		return s.lines(ctx, r)
	}
	switch {
	case r.Query == "":
		return SearchAnswer{}, wrongRequest("query", `"query" is missing, or "place"`)
	case r.Limit < 0 || r.Limit > maxPassages:
		return SearchAnswer{}, wrongRequest("limit", `"limit" must be 1 to %d`, maxPassages)
	case r.Tokens < 0 || r.Tokens > maxTokens:
		return SearchAnswer{}, wrongRequest("tokens", `"tokens" must be 1 to %d`, maxTokens)
	}
	found, err := s.host.Search(ctx, host.Query{Words: r.Query, Limit: r.Limit, Tokens: r.Tokens})
	return SearchAnswer{append([]outcome.Passage{}, found...)}, inQuery(err)
}

func (s *Session) lines(ctx context.Context, r SearchRequest) (SearchAnswer, error) {
	switch {
	case r.Query != "" || r.Limit != 0 || r.Tokens != 0:
		return SearchAnswer{}, wrongRequest("place", `"place" reads lines: leave out "query", "limit" and "tokens"`)
	case r.Place.Entry == "":
		return SearchAnswer{}, wrongRequest("place.entry", `"place.entry" is missing: it is the id of an entry`)
	case r.Place.Lines < 1:
		return SearchAnswer{}, wrongRequest("place.lines", `"place.lines" must be above 0`)
	}
	found, err := s.host.Lines(ctx, *r.Place)
	return SearchAnswer{[]outcome.Passage{found}}, err
}
