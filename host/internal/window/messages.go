package window

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Messages are messages in a provider's form, to add to a session.
type Messages struct {
	Form     *messages.API
	Messages []json.RawMessage
	// System replaces the session's system prompt: a string or a list of text parts, as the provider takes it next to
	// the messages. Nil keeps it. System and developer messages at the beginning of the session are added to it.
	System json.RawMessage
	// Key is as in [AddOptions].
	Key string
}

// once returns the identity of the addition, or nil without a key. It is made from the messages as received: what they
// become depends on what was added before.
func (m Messages) once() *sessionlog.Once {
	if m.Key == "" {
		return nil
	}
	return sessionlog.OnceOfTexts(m.Key, append([]json.RawMessage{[]byte(m.Form.Name), m.System}, m.Messages...)...)
}

// AddMessages appends messages in a provider's form, all or none, as [Session.Add] appends entries. A message that is
// not of the form is refused with an error that wraps [ErrInvalidEntry] and a [*messages.Error]. Parts of
// unknown kinds are kept unchanged.
func (s *Session) AddMessages(ctx context.Context, m Messages) (revision uint64, total int, err error) {
	leave, err := s.journal.Enter()
	defer leave()
	if err != nil {
		return 0, 0, err
	}
	once := m.once()
	switch done, err := s.journal.Repeated(once); {
	case err != nil:
		return 0, 0, err
	case done != nil:
		return done.Revision, done.Tokens, nil
	}
	old, err := s.System()
	if err != nil {
		return 0, 0, err
	}
	before := messages.Before{System: old, Begun: s.history.Snapshot().Added > 0, Called: s.called}
	if m.System != nil {
		if before.System, err = messages.ParseSystem(m.System); err != nil {
			return 0, 0, fmt.Errorf("%w: %w", ErrInvalidEntry, err)
		}
	}
	parsed, err := messages.Parse(m.Form, before, m.Messages)
	if err != nil {
		return 0, 0, fmt.Errorf("add %w (%w)", err, ErrInvalidEntry)
	}
	if err := wellFormed(parsed.Entries, check.Content); err != nil {
		// The agent knows its messages, not the entries made from them.
		if bad := (*EntryError)(nil); errors.As(err, &bad) {
			err = &messages.Error{Message: parsed.From[bad.Index], Part: -1, Err: bad.Err}
		}
		return 0, 0, fmt.Errorf("add %w (%w)", err, ErrInvalidEntry)
	}
	if !slices.EqualFunc(old, parsed.System, content.Equal) {
		if err := s.SetSystem(ctx, parsed.System...); err != nil {
			return 0, 0, err
		}
	}
	revision, total, err = s.countAndAppend(ctx, parsed.Entries, once)
	if err != nil {
		_ = s.SetSystem(context.WithoutCancel(ctx), old...) // it could be set before
	}
	return revision, total, err
}

// called returns the tool that the latest call with an id called, or "". Most providers' responses do not name it.
func (s *Session) called(id string) string {
	// From the end: the call is nearly always in the last exchange.
	entries := s.history.Snapshot().Entries
	for _, e := range slices.Backward(entries) {
		for _, b := range slices.Backward(e.Content.Blocks) {
			if call, ok := b.(content.ToolCall); ok && call.ID == id {
				return call.Name
			}
		}
	}
	return ""
}

// Request returns the prepared history in a provider's form, ready to be sent, and what the form could not hold.
func (p Prepared) Request(form *messages.API) messages.Rendered {
	return messages.Render(form, p.System, p.History, true)
}
