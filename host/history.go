package host

import (
	"context"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Add appends entries or messages, all or none. It ends with ctx.
//
// With the setting transcript.dir the entries are in the transcript when Add returns. If it cannot be written, Add
// keeps them for the next attempt, and Prepare and Close fail until that succeeds.
//
// Add never waits for a Prepare: entries added meanwhile follow the history that it produces. An entry that is not well
// formed is refused with an error that wraps [ErrInvalidEntry] and has its position and the path of the fault. Other
// entries under a known key are refused with [ErrKeyReused].
func (s *Session) Add(ctx context.Context, r api.AddRequest) (api.AddAnswer, error) {
	if err := checkAdd(r); err != nil {
		return api.AddAnswer{}, err
	}
	var (
		added window.Added
		err   error
	)
	if r.Format != "" {
		system, name := r.System, "system"
		if r.Instructions != nil {
			system, name = r.Instructions, "instructions"
		}
		added, err = s.window.AddMessages(ctx, forms[r.Format], r.Key, system, r.Messages)
		err = in("messages", name, err)
	} else {
		a := window.Addition{Entries: r.Entries, Key: r.Key}
		switch {
		case r.Lenient:
			a.Judge = window.Anything
		case r.Opaque:
			a.Judge = window.Opaque
		}
		added, err = s.window.Add(ctx, a)
		err = in("entries", "", err)
	}
	if e := ErrorOf(err); e != nil {
		e.Key = r.Key
	}
	return api.AddAnswer{Revision: added.Revision, Tokens: added.Tokens}, err
}

func checkAdd(r api.AddRequest) error {
	switch {
	case !utf8.ValidString(r.Key):
		return api.NotText("key")
	case r.Format == "" && (r.Messages != nil || r.System != nil || r.Instructions != nil):
		return api.Refuse("format", `"format" is missing: it says in which form "messages" are`)
	case r.Format != "" && r.Entries != nil:
		return api.Refuse("entries", `"entries" are in the native form; with "format", give "messages"`)
	case r.Format != "" && r.Opaque:
		return api.Refuse("opaque", `"opaque" is for "entries": in messages, parts of all types are carried`)
	case r.System != nil && r.Instructions != nil:
		return api.Refuse("instructions", `"system" and "instructions" are the same: give one`)
	}
	return r.Format.Check()
}

// History returns what the hosts of the store own, including what is not sent to a model. With sessions.maxMemory, this
// and all that reads a session may have to read it from the store, and fails if the store does.
func (s *Session) History(ctx context.Context) (api.HistoryAnswer, error) {
	upTo, err := s.window.Refresh(ctx, s.upTo)
	if err != nil {
		return api.HistoryAnswer{}, failed(err)
	}
	h, err := s.window.HistoryAt(upTo)
	if err != nil {
		return api.HistoryAnswer{}, failed(err)
	}
	return api.HistoryAnswer{History: h.Contents(), Tokens: h.Tokens, Revision: h.Revision}, nil
}

// Recorded returns what was added under an id, before any strategy changed it: the entry, for the id of a mark the
// result alone, or for a tool call's id the entries with the call and its responses. It can be called at any time: what was
// recorded never changes.
//
// If nothing has the id the error wraps [ErrNotRecorded].
func (s *Session) Recorded(ctx context.Context, r api.RecordedRequest) (api.RecordedAnswer, error) {
	if r.ID == "" {
		return api.RecordedAnswer{}, api.Refuse("id", `"id" is missing`)
	}
	entries, err := s.window.Originals(ctx, r.ID)
	return api.RecordedAnswer{Entries: entries}, failed(err)
}

// Explain reads from the store what became of entries, and why. Changes are in the order in which they were made, also
// those of an earlier program.
func (s *Session) Explain(ctx context.Context, r api.ExplainRequest) (api.ExplainAnswer, error) {
	changes, err := s.window.Explain(ctx, r.ID)
	return api.ExplainAnswer{Changes: append([]outcome.Logged{}, changes...)}, failed(err)
}

// Search finds passages of what is no longer sent, or reads lines of what was added. The error wraps [ErrQuery] if the
// words cannot be searched for; if there is no block at a place, [ErrNotRecorded].
func (s *Session) Search(ctx context.Context, r api.SearchRequest) (api.SearchAnswer, error) {
	if r.Place != nil {
		return s.lines(ctx, r)
	}
	switch {
	case r.Query == "":
		return api.SearchAnswer{}, api.Refuse("query", `"query" is missing, or "place"`)
	case r.Limit < 0 || r.Limit > search.MaxPassages:
		return api.SearchAnswer{}, api.Refuse("limit", `"limit" must be 1 to %d`, search.MaxPassages)
	case r.Tokens < 0 || r.Tokens > search.MaxTokens:
		return api.SearchAnswer{}, api.Refuse("tokens", `"tokens" must be 1 to %d`, search.MaxTokens)
	}
	found, err := s.window.Search(ctx, search.Query{Words: r.Query, Limit: r.Limit, Tokens: r.Tokens})
	found.Passages = append([]outcome.Passage{}, found.Passages...)
	return api.SearchAnswer{Found: found}, inQuery(err)
}

func (s *Session) lines(ctx context.Context, r api.SearchRequest) (api.SearchAnswer, error) {
	at := *r.Place
	switch {
	case r.Query != "" || r.Limit != 0 || r.Tokens != 0:
		return api.SearchAnswer{}, api.Refuse("place", `"place" reads lines: leave out "query", "limit" and "tokens"`)
	case at.Entry == "":
		return api.SearchAnswer{}, api.Refuse("place.entry", `"place.entry" is missing: it is the id of an entry`)
	case at.Lines < 1:
		return api.SearchAnswer{}, api.Refuse("place.lines", `"place.lines" must be above 0`)
	}
	found, err := s.window.Lines(ctx, at.Entry, at.Block, at.Line, at.Line+at.Lines-1)
	if err != nil {
		return api.SearchAnswer{}, failed(err)
	}
	return api.SearchAnswer{Found: outcome.Found{Passages: []outcome.Passage{found}}}, nil
}
