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

// AddMessages appends messages in a provider's form, all or none, as [Session.AddOnce] appends entries. A message that
// is not of the form is refused with an error that wraps [ErrInvalidEntry] and a [*messages.Error]. Parts of unknown
// kinds are kept unchanged.
//
// system replaces the session's system prompt: a string or a list of text parts, as the provider takes it next to the
// messages. Nil keeps it. System and developer messages at the beginning of the session are added to it.
func (s *Session) AddMessages(
	ctx context.Context, form *messages.API, key string, system json.RawMessage, added []json.RawMessage,
) (revision uint64, total int, err error) {
	leave, err := s.journal.Enter()
	defer leave()
	if err != nil {
		return 0, 0, err
	}
	// Of the messages as received: what they become depends on what was added before.
	once := sessionlog.OnceOfTexts(key, append([]json.RawMessage{[]byte(form.Name), system}, added...)...)
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
	if system != nil {
		if before.System, err = messages.ParseSystem(system); err != nil {
			return 0, 0, fmt.Errorf("%w: %w", ErrInvalidEntry, err)
		}
	}
	parsed, err := messages.Parse(form, before, added)
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
	revision, total, err = s.append(ctx, Counted{entries: parsed.Entries}, once)
	if err != nil {
		_ = s.SetSystem(context.WithoutCancel(ctx), old...) // it could be set before
	}
	return revision, total, err
}

// called returns the tool that the latest call with an id called, or "", also where calls of several tools in one entry
// have it. Most providers' responses do not name it.
func (s *Session) called(id string) (name string) {
	// From the end: the call is nearly always in the last exchange.
	for _, e := range slices.Backward(s.history.Snapshot().Entries) {
		for _, b := range e.Content.Blocks {
			switch call, ok := b.(content.ToolCall); {
			case !ok || call.ID != id:
			case name != "" && name != call.Name:
				return ""
			default:
				name = call.Name
			}
		}
		if name != "" {
			break
		}
	}
	return name
}
