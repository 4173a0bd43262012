package window

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/journal/sessionlog"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/sdk/content"
)

// AddMessages appends messages in a provider's form, all or none, as [Session.Add] appends entries. A message that
// is not of the form is refused with an error that wraps [ErrInvalidEntry] and a [*messages.Error]. Parts of unknown
// kinds are kept unchanged.
//
// system replaces the session's system prompt: a string or a list of text parts, as the provider takes it next to the
// messages. Nil keeps it. System and developer messages at the beginning of the session are added to it.
func (s *Session) AddMessages(
	ctx context.Context, form *messages.API, key string, system json.RawMessage, all []json.RawMessage,
) (Added, error) {
	leave, err := s.Enter()
	defer leave()
	if err != nil {
		return Added{}, err
	}
	// Of the messages as received: what they become depends on what was added before.
	once := sessionlog.OnceOfTexts(key, append([]json.RawMessage{[]byte(form.Name), system}, all...)...)
	switch done, err := s.Repeated(once); {
	case err != nil:
		return Added{}, err
	case done != nil:
		return Added{Revision: done.Revision, Tokens: done.Tokens}, nil
	}
	old, err := s.System()
	if err != nil {
		return Added{}, err
	}
	before := messages.Before{System: old, Begun: s.history.Snapshot().Added > 0, Called: s.called}
	if system != nil {
		if before.System, err = messages.ParseSystem(system); err != nil {
			return Added{}, fmt.Errorf("%w: %w", ErrInvalidEntry, err)
		}
	}
	parsed, err := messages.Parse(form, before, all)
	if err != nil {
		return Added{}, fmt.Errorf("add %w (%w)", err, ErrInvalidEntry)
	}
	if err := Opaque.check(parsed.Entries); err != nil {
		// The agent knows its messages, not the entries made from them.
		if bad := (*EntryError)(nil); errors.As(err, &bad) {
			err = &messages.Error{Message: parsed.From[bad.Index], Part: -1, Err: bad.Err}
		}
		return Added{}, fmt.Errorf("add %w (%w)", err, ErrInvalidEntry)
	}
	if !slices.EqualFunc(old, parsed.System, content.Equal) {
		if err := s.SetSystem(ctx, parsed.System...); err != nil {
			return Added{}, err
		}
	}
	added, err := s.append(ctx, Counted{entries: parsed.Entries}, once)
	if err != nil {
		_ = s.SetSystem(context.WithoutCancel(ctx), old...) // it could be set before
	}
	return added, err
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
