package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/sdk/content"
)

// AddRequest has entries in the native form or, with a Format, messages in a provider's.
type AddRequest struct {
	Of
	// Entries are decoded one by one: an error can name the one that is wrong.
	Entries []json.RawMessage `json:"entries,omitempty" jsonschema:"in the entry format"`
	// Opaque takes blocks of unknown types as they are; they are then never pruned.
	Opaque bool `json:"opaque,omitempty" jsonschema:"accepts blocks of unknown types and carries them as they are"`
	// Format is the form of Messages. System and Instructions are the same, as different providers name it.
	Format       host.Form         `json:"format,omitempty" jsonschema:"of messages"`
	Messages     []json.RawMessage `json:"messages,omitempty" jsonschema:"in place of entries"`
	System       json.RawMessage   `json:"system,omitempty" jsonschema:"with format: replaces the system prompt"`
	Instructions json.RawMessage   `json:"instructions,omitempty" jsonschema:"the same as system"`
	// Key makes the same request again take place once; "" is none.
	Key string `json:"key,omitempty" jsonschema:"makes the addition safe to repeat"`
}

// AddAnswer has the revision and the tokens of the history after the addition.
type AddAnswer struct {
	Revision uint64 `json:"revision" jsonschema:"the number of changes to the history"`
	Tokens   int    `json:"tokens" jsonschema:"of the whole history, by the host's count"`
}

func (r AddRequest) check() error {
	switch {
	case r.Format == "" && (r.Messages != nil || r.System != nil || r.Instructions != nil):
		return wrongRequest("format", `"format" is missing: it says in which form "messages" are`)
	case r.Format != "" && r.Entries != nil:
		return wrongRequest("entries", `"entries" are in the native form; with "format", give "messages"`)
	case r.Format != "" && r.Opaque:
		return wrongRequest("opaque", `"opaque" is for "entries": in messages, parts of all types are carried`)
	case r.System != nil && r.Instructions != nil:
		return wrongRequest("instructions", `"system" and "instructions" are the same: give one`)
	}
	return checkForm(r.Format)
}

// Add appends all entries or none.
func (s *Session) Add(ctx context.Context, r AddRequest) (AddAnswer, error) {
	if err := r.check(); err != nil {
		return AddAnswer{}, err
	}
	if r.Format != "" {
		system, name := r.System, "system"
		if r.Instructions != nil {
			system, name = r.Instructions, "instructions"
		}
		state, err := s.host.AddMessages(ctx, host.Messages{Form: r.Format, Messages: r.Messages, System: system, Key: r.Key})
		return AddAnswer(state), in("messages", name, err)
	}
	entries, err := decodeEntries(r.Entries)
	if err != nil {
		return AddAnswer{}, err
	}
	state, err := s.host.AddWith(ctx, host.AddOptions{Key: r.Key, Opaque: r.Opaque}, entries...)
	return AddAnswer(state), in("entries", "", err)
}

// decodeEntries names the first entry that cannot be read, by its position in the request.
func decodeEntries(list []json.RawMessage) ([]content.Content, error) {
	entries := make([]content.Content, len(list))
	for i, raw := range list {
		if err := entries[i].UnmarshalJSON(raw); err != nil {
			refused := &host.Error{Kind: host.KindEntry, Entry: &i,
				Err: fmt.Errorf("add entry %d: %w: %w", i, host.ErrInvalidEntry, err)}
			if bad, ok := errors.AsType[*content.PathError](err); ok {
				refused.Path = bad.Path
			}
			return nil, in("entries", "", refused)
		}
	}
	return entries, nil
}
