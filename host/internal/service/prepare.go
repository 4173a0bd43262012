package service

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// PrepareRequest is about the request that the agent is about to make.
type PrepareRequest struct {
	Moment
	// PendingTokens is what the request holds besides the history and the system prompt; 0 if nothing.
	PendingTokens int `json:"pendingTokens,omitempty" jsonschema:"of the rest of the request, such as tool schemas"`
	// Recall says that the model has the tool: shortened results then have ids.
	Recall bool `json:"recall,omitempty" jsonschema:"the model has the tool thresh_recall: shortened results have an id for it"`
	// Format is the form of the answer; "" is the native one.
	Format host.Form `json:"format,omitempty" jsonschema:"return messages in this form"`
	// Since is the revision of a prepared history that the agent still has; nil if it has none.
	Since *uint64 `json:"since,omitempty" jsonschema:"the last result's revision: return only what has changed"`
}

// PrepareAnswer is a prepared history: entries, or messages in the requested form.
type PrepareAnswer struct {
	Keep         *int              `json:"keep,omitempty" jsonschema:"with since"`
	System       json.RawMessage   `json:"system,omitempty"`
	Instructions json.RawMessage   `json:"instructions,omitempty" jsonschema:"with openai-responses"`
	History      []content.Content `json:"history,omitzero" jsonschema:"what to send"`
	Messages     []json.RawMessage `json:"messages,omitzero" jsonschema:"with format"`
	Notes        []string          `json:"notes,omitempty" jsonschema:"what the form cannot hold, and how many messages went"`
	Tokens       int               `json:"tokens"`
	SystemTokens int               `json:"systemTokens,omitempty"`
	Revision     uint64            `json:"revision"`
	Outcome      outcome.Outcome   `json:"outcome"`
}

// Prepare makes the history fit the model and returns it. It is the one method that an agent must call before each
// request to its model. With an error of the turn it returns the history as it is, so the agent can continue; with any
// other error it returns nil.
func (s *Session) Prepare(ctx context.Context, r PrepareRequest) (*PrepareAnswer, error) {
	if r.PendingTokens < 0 {
		return nil, wrongRequest("pendingTokens", `"pendingTokens" must not be negative`)
	}
	if err := checkForm(r.Format); err != nil {
		return nil, err
	}
	ready, failed := s.host.Prepare(ctx, host.PrepareOptions{PendingTokens: r.PendingTokens, Recall: r.Recall, UpTo: r.UpTo})
	s.publish(Event{Method: "prepare", Revision: ready.Revision, Tokens: ready.Tokens, Pending: r.PendingTokens,
		Outcome: ready.Outcome, Err: failed})
	answer, err := s.prepared(ready, r.Format)
	switch {
	case err != nil:
		return nil, err
	case failed != nil && ready.History == nil: // the session is closed or cannot be read
		return nil, failed
	case failed != nil || r.Since == nil:
		return answer, failed
	}
	if err := answer.leaveOut(ready, r.Format, *r.Since); err != nil {
		return nil, err
	}
	return answer, nil
}

func (s *Session) prepared(ready host.Prepared, form host.Form) (*PrepareAnswer, error) {
	a := &PrepareAnswer{
		Tokens: ready.Tokens, SystemTokens: s.host.SystemTokens(), Revision: ready.Revision, Outcome: ready.Outcome,
	}
	if form == "" {
		a.History = ready.History
		// An agent that sets no system prompt sees no field of it.
		if len(ready.System) > 0 {
			a.System = List(systemBlocks(ready.System))
		}
		return a, nil
	}
	request, err := ready.Request(form)
	a.System, a.Instructions, a.Notes = request.System, request.Instructions, request.Notes
	// An agent finds a list even if there is nothing to send.
	if a.Messages = request.Messages; a.Messages == nil {
		a.Messages = []json.RawMessage{}
	}
	return a, err
}

// List is JSON values as one, unchanged: package json would escape what may stand in HTML.
func List(values []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// leaveOut removes from the answer what the agent has since a revision. The host remembers the last prepared history
// only: of an older one nothing can be kept. keep counts what the answer does not repeat: entries, or messages in the
// requested form.
func (a *PrepareAnswer) leaveOut(ready host.Prepared, form host.Form, since uint64) error {
	keep := 0
	if since == ready.UnchangedSince {
		keep = ready.Unchanged
	}
	a.Keep = &keep
	if form == "" {
		a.History = a.History[keep:]
		return nil
	}
	// A message may hold several entries. The last one of the unchanged entries may have held more than these before.
	ready.History = ready.History[:keep]
	unchanged, err := ready.Request(form)
	if err != nil {
		return err
	}
	keep = 0
	for keep < len(unchanged.Messages)-1 && bytes.Equal(unchanged.Messages[keep], a.Messages[keep]) {
		keep++
	}
	a.Messages = a.Messages[keep:]
	return nil
}

// CompressAnswer has the size after the compress. The outcome says why, if nothing was compressed.
type CompressAnswer struct {
	Tokens   int             `json:"tokens"`
	Revision uint64          `json:"revision"`
	Outcome  outcome.Outcome `json:"outcome"`
}

// Compress returns no history: an agent that wants it prepares.
func (s *Session) Compress(ctx context.Context, r Moment) (CompressAnswer, error) {
	out, err := s.host.CompressUpTo(ctx, r.UpTo)
	// Without what was added meanwhile: the figures belong to the outcome.
	h, unread := s.host.Size(r.UpTo)
	if err == nil {
		err = unread
	}
	s.publish(Event{Method: "compress", Revision: h.Revision, Tokens: h.Tokens, Outcome: out, Err: err})
	if err != nil {
		return CompressAnswer{}, err
	}
	return CompressAnswer{h.Tokens, h.Revision, out}, nil
}
