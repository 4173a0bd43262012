package host

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Session is one conversation. It owns the history: do not change entries that were added, or slices that it returns.
type Session struct {
	window *window.Session
	upTo   *history.Point // nil: now
}

func (s *Session) ID() string { return s.window.ID() }

// Point is a moment between two additions to a session.
type Point struct{ at history.Point }

// Point returns the moment after everything that was added so far.
func (s *Session) Point() (Point, error) {
	at, err := s.window.Point()
	return Point{at}, failed(err)
}

// At returns the session without what is added after a moment, to [Session.State], [Session.History], [Session.Prepare]
// and [Session.Compress]. It is for an agent that adds entries while Prepare runs.
func (s *Session) At(p Point) *Session { return &Session{window: s.window, upTo: &p.at} }

// State returns no entries, so it is cheap however long the history is. It sees what other hosts of the same store have
// added.
func (s *Session) State(ctx context.Context) (api.StateAnswer, error) {
	upTo, err := s.window.Refresh(ctx, s.upTo)
	if err != nil {
		return api.StateAnswer{}, failed(err)
	}
	revision, tokens, entries, err := s.window.Size(upTo)
	if err != nil {
		return api.StateAnswer{}, failed(err)
	}
	system, err := s.window.System()
	if err != nil {
		return api.StateAnswer{}, failed(err)
	}
	return api.StateAnswer{Session: s.ID(), System: systemBlocks(system), SystemTokens: s.window.SystemTokens(),
		Entries: entries, Tokens: tokens, Revision: revision}, nil
}

// SetSystem replaces the system prompt or instructions, text blocks only (else [api.KindEntry]).
func (s *Session) SetSystem(ctx context.Context, r api.SystemRequest) (api.SystemAnswer, error) {
	// Null and "" are what libraries send for "none".
	var blocks []content.Block
	if text := string(r.System); text != "" && text != "null" && text != `""` {
		var err error
		if blocks, err = messages.ParseSystem(r.System); err != nil {
			return api.SystemAnswer{}, in("", "system", fmt.Errorf("%w: %w", ErrInvalidEntry, err))
		}
	}
	if err := s.window.SetSystem(ctx, blocks...); err != nil {
		return api.SystemAnswer{}, in("", "system", err)
	}
	return api.SystemAnswer{Tokens: s.window.SystemTokens()}, nil
}

// systemBlocks returns an empty list, never null, for no blocks.
func systemBlocks(blocks []content.Block) []json.RawMessage {
	out := make([]json.RawMessage, len(blocks))
	for i, b := range blocks {
		out[i] = content.AppendBlock(nil, b)
	}
	return out
}

// Set overrides one setting for this session, from the next Prepare on, with a value of its type or its text form
// ("0.5"); nil removes the override. Settings of the whole host are refused with [ErrFixed], and so is another token
// encoding once something was added.
func (s *Session) Set(ctx context.Context, r api.SetRequest) error {
	if r.Key == "" {
		return api.Refuse("key", `"key" is missing`)
	}
	return inSetting(s.window.Set(ctx, r.Key, r.Value))
}

// SetTodos replaces the agent's task list; the next Compress is told of it.
func (s *Session) SetTodos(ctx context.Context, r api.TodosRequest) error {
	return in("", "todos", s.window.SetTodos(ctx, r.Todos))
}

// ReportUsage takes the prompt tokens, cached ones included, that the provider reported for the last Prepare's request.
// Later threshold checks go by them. After an error the report is lost, and later ones teach the same.
func (s *Session) ReportUsage(ctx context.Context, r api.UsageRequest) error {
	// Agents that do not know send 0. Calibrating by it would make all later counts too small.
	if r.PromptTokens <= 0 {
		return api.Refuse("promptTokens", `"promptTokens" must be above 0`)
	}
	return failed(s.window.ReportUsage(ctx, r.PromptTokens, 0))
}

// Config returns the configuration in force for this session.
func (s *Session) Config() *config.Config { return s.window.Config() }

// TranscriptPath returns the file that every added entry is written to; "" without the setting transcript.dir.
func (s *Session) TranscriptPath() string { return s.window.TranscriptPath() }

// Closed reports whether the session was closed or deleted, or a method panicked; it can then be opened again.
func (s *Session) Closed() bool { return s.window.Closed() }

// Close closes the session; a Prepare in progress fails with [ErrClosed]. If the transcript could not be written, the
// error says how many entries it lacks, and the session stays open: call Close again when there is room.
func (s *Session) Close(context.Context) error { return failed(s.window.Close()) }
