package network

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Between protobuf and package service. What a session contains travels as JSON text in string fields: protobuf would
// lose the order of fields, unknown ones, and the digits of large numbers.

// int32of is a count of tokens, entries or messages, which are far below the bound. It is clamped and not wrapped,
// because a negative count would be worse than one that is too low.
func int32of(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// optional keeps nil absent: an entry at position 0 is a position.
func optional(n *int) *int32 {
	if n == nil {
		return nil
	}
	return new(int32of(*n))
}

// rawList takes each text as JSON. Whether it is JSON is found out by what reads it. nil stays nil, because an absent
// list and an empty one differ for the service.
func rawList(texts []string) []json.RawMessage {
	if texts == nil {
		return nil
	}
	list := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		list[i] = json.RawMessage(text)
	}
	return list
}

func texts(list []json.RawMessage) []string {
	out := make([]string, len(list))
	for i, raw := range list {
		out[i] = string(raw)
	}
	return out
}

// entryTexts are entries in the native form. They travel as JSON text and not as messages of protobuf, so that numbers,
// unknown fields and their order survive the way through the service.
func entryTexts(entries []content.Content) ([]string, error) {
	out := make([]string, len(entries))
	for i, e := range entries {
		text, err := e.MarshalJSON()
		if err != nil {
			return nil, err
		}
		out[i] = string(text)
	}
	return out, nil
}

// systemOf is a system prompt as JSON; nil if the request has none, null for a prompt without content. A text becomes a
// JSON string; parts are the JSON of a provider's form and pass unread.
func systemOf(s *sessionv1.System) (json.RawMessage, error) {
	switch p := s.GetPrompt().(type) {
	case *sessionv1.System_Text:
		return json.Marshal(p.Text)
	case *sessionv1.System_Parts:
		return json.RawMessage(p.Parts), nil
	}
	if s != nil {
		return json.RawMessage("null"), nil
	}
	return nil, nil
}

// outcomeText is an outcome as JSON. An outcome always has a JSON form. A panic here is a mistake of this program:
// Connect does not catch it, and net/http ends the request alone.
func outcomeText(o outcome.Outcome) string {
	text, err := json.Marshal(o)
	if err != nil {
		panic("network: an outcome without JSON form: " + err.Error())
	}
	return string(text)
}

// todosOf converts a task list. Tasks may have subtasks of any depth; the bound on the size of a request bounds it.
func todosOf(tasks []*sessionv1.Task) []sdk.Todo {
	list := make([]sdk.Todo, 0, len(tasks))
	for _, t := range tasks {
		todo := sdk.Todo{ID: t.GetId(), Content: t.GetContent(), Status: t.GetStatus()}
		if len(t.GetSubtasks()) > 0 {
			todo.Subtasks = todosOf(t.GetSubtasks())
		}
		list = append(list, todo)
	}
	return list
}

// turnError is a turn that failed, as a part of an answer; nil for none. It is used where the answer is of use
// nevertheless: an unprepared history, or an event of a watch.
func turnError(err error) *sessionv1.TurnError {
	if err == nil {
		return nil
	}
	return &sessionv1.TurnError{Message: store.Public(err), Detail: detailOf(err)}
}

// prepared converts the answer of a Prepare. a may hold an unprepared history, after an error. Instructions are
// unmarshalled because the field is a message of its own.
func prepared(a *service.PrepareAnswer) (*sessionv1.PrepareResponse, error) {
	history, err := entryTexts(a.History)
	if err != nil {
		return nil, err
	}
	r := &sessionv1.PrepareResponse{
		Keep: optional(a.Keep), History: history, Messages: texts(a.Messages), System: string(a.System),
		Notes: a.Notes, Tokens: int32of(a.Tokens), SystemTokens: int32of(a.SystemTokens), Revision: a.Revision,
		Outcome: outcomeText(a.Outcome),
	}
	if a.Instructions != nil {
		err = json.Unmarshal(a.Instructions, &r.Instructions)
	}
	return r, err
}

// partBytes is the size of a part of a stream, in bytes: large enough that framing costs nothing, and small enough for
// the usual bounds of clients (4 MiB). One entry is never divided.
const partBytes = 1 << 20

// parts divides texts into lists of about partBytes. There is at least one list. Lists share the array of all. The
// last one is clipped, so that appending to it cannot change what a caller still holds.
func parts(all []string) [][]string {
	var list [][]string
	from, size := 0, 0
	for i, text := range all {
		if size > 0 && size+len(text) > partBytes {
			list = append(list, all[from:i])
			from, size = i, 0
		}
		size += len(text)
	}
	return append(list, slices.Clip(all[from:]))
}
