package contract

import (
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Wrong is a call that is refused: at every door with the same words.
type Wrong struct {
	Name, Method string
	// Params are the method's, which are about the session "s" if they are about one. It has no entries.
	Params  any
	Kind    api.Kind
	Field   string
	Message string
}

// WrongCalls are twelve calls that are refused.
func WrongCalls() []Wrong {
	of := api.Of{Session: "s"}
	return []Wrong{
		{"an id that is too long", "session.open", &api.OpenRequest{ID: strings.Repeat("x", 513)}, api.KindSession, "id",
			"a session cannot be called this: its id has 513 bytes, at most 512 are allowed"},
		{"an unknown setting", "session.open", &api.OpenRequest{ID: "t", Settings: map[string]any{"model.contextLimits": 1}},
			api.KindSetting, "settings.model.contextLimits", "model.contextLimits: unknown setting; did you mean model.contextLimit?"},
		{"a value that is none", "session.set", &api.SetRequest{Of: of, Key: "compression.threshold", Value: "x"},
			api.KindSetting, "value", `compression.threshold`},
		{"no key", "session.set", &api.SetRequest{Of: of}, api.KindRequest, "key", `"key" is missing`},
		{"a prompt of images", "session.setSystem", &api.SystemRequest{Of: of,
			System: json.RawMessage(`[{"type":"image"}]`)}, api.KindEntry, "system[0]", "is no text part"},
		{"an entry that is none", "history.add", &api.AddRequest{Of: of, Entries: []content.Content{
			say(content.Human, "x"), {Speaker: content.AI}}}, api.KindEntry, "entries[1].blocks",
			"add entry 1: not a valid history entry"},
		{"messages without a form", "history.add", &api.AddRequest{Of: of, Messages: []json.RawMessage{[]byte(`{}`)}},
			api.KindRequest, "format", `"format" is missing: it says in which form "messages" are`},
		{"less than nothing", "window.prepare", &api.PrepareRequest{Of: of, PendingTokens: -1}, api.KindRequest,
			"pendingTokens", `"pendingTokens" must not be negative`},
		{"an unknown form", "window.prepare", &api.PrepareRequest{Of: of, Format: "xml"}, api.KindRequest, "format",
			`"format": "xml": unknown form of messages; want anthropic, openai-chat or openai-responses`},
		{"too many tokens", "history.search", &api.SearchRequest{Of: of, Query: "x", Tokens: 500_000}, api.KindRequest,
			"tokens", `"tokens" must be 1 to 100000`},
		{"a task in no state", "todos.set", &api.TodosRequest{Of: of, Todos: []sdk.Todo{{Content: "x", Status: "done"}}},
			api.KindEntry, "todos[0].status", "allowed are"},
		{"lines of nothing", "history.search", &api.SearchRequest{Of: of, Place: &outcome.Place{Lines: 1}},
			api.KindRequest, "place.entry", `"place.entry" is missing: it is the id of an entry`},
	}
}

// wrong makes the wrong calls as a Go program does.
func wrong(t *test) {
	s := t.open(api.OpenRequest{ID: "s"})
	rows := map[string]*api.Method{}
	for _, m := range api.Methods() {
		rows[m.Name] = m
	}
	for _, w := range WrongCalls() {
		_, err := rows[w.Method].Call(t.ctx, api.Target{Host: t.Host, Session: s, Alone: t.Alone}, w.Params)
		w.Check(t, "Go", t.refused(err))
	}
}

// Check holds what a door said against what all say.
func (w Wrong) Check(t interface{ Errorf(string, ...any) }, door string, e *api.Error) {
	if e.Kind != w.Kind || e.Field != w.Field || !strings.Contains(e.Error(), w.Message) || e.Retryable {
		t.Errorf("%s by %s: %+v, want %s of %q: %s", w.Name, door, e, w.Kind, w.Field, w.Message)
	}
}
