package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Settings are those that a host must have: with the strategy in force, no model is needed.
func Settings() []config.Override {
	return []config.Override{{Key: "compression.strategy", Value: "top-down-truncation"},
		{Key: "model.contextLimit", Value: contextLimit}}
}

const contextLimit = 2000

// Under is what is exercised: a host that has Settings and nothing else yet.
type Under struct {
	Host  api.Host[api.Session]
	Alone api.Alone
}

// AnySession is a host whose sessions are of no kind in particular.
func AnySession[S api.Session](h api.Host[S]) api.Host[api.Session] { return anySession[S]{h} }

type anySession[S api.Session] struct{ api.Host[S] }

func (h anySession[S]) Open(ctx context.Context, r api.OpenRequest) (api.Session, error) {
	s, err := h.Host.Open(ctx, r)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Exercise runs every behaviour against a host of its own.
func Exercise(t *testing.T, open func(*testing.T) Under) {
	for _, b := range behaviours {
		t.Run(b.name, func(t *testing.T) { b.f(&test{t, t.Context(), open(t)}) })
	}
}

// behaviours are sentences about every host.
var behaviours = []struct {
	name string
	f    func(*test)
}{
	{"what is added is prepared", prepared},
	{"an addition with a key takes place once", once},
	{"messages come back in their form", inForm},
	{"a prepare since a revision returns what follows", since},
	{"a system prompt stands beside the history", system},
	{"a setting is for one session", set},
	{"what was removed can be explained, found and had back", removed},
	{"a turn that does not fit says what is large", overflow},
	{"an agent reports its tasks and what was used", reported},
	{"blocks of unknown kinds are added on purpose", opaque},
	{"sessions are listed by pages, and deleted", listed},
	{"a closed session goes on where it was", reopened},
	{"turns are watched", watched},
	{"a host counts, and knows its plugins", host},
	{"messages are made small without a session", alone},
	{"what no session can be called is refused", named},
	{"what is wrong is said in the same words", wrong},
}

type test struct {
	*testing.T
	ctx context.Context
	Under
}

func say(by content.Speaker, text string) content.Content {
	return content.Content{Speaker: by, Blocks: []content.Block{content.Text{Text: text}}}
}

// long are entries of about 100 tokens each.
func long(n int) (all []content.Content) {
	for i := range n {
		all = append(all, say(content.Human, fmt.Sprintf("step %d\n%s\ndone", i, strings.Repeat("word ", 100))))
	}
	return all
}

func must[T any](t *test, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (t *test) no(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (t *test) same(what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// refused is the error of a call that must fail.
func (t *test) refused(err error) *api.Error {
	t.Helper()
	e, ok := errors.AsType[*api.Error](err)
	if !ok {
		t.Fatalf("%v is no *api.Error", err)
	}
	return e
}

func (t *test) open(r api.OpenRequest) api.Session {
	t.Helper()
	s, err := t.Host.Open(t.ctx, r)
	return must(t, s, err)
}

func (t *test) add(s api.Session, entries ...content.Content) api.AddAnswer {
	t.Helper()
	a, err := s.Add(t.ctx, api.Entries(entries...))
	return must(t, a, err)
}

func prepared(t *test) {
	s := t.open(api.OpenRequest{ID: "s"})
	empty, err := s.Prepare(t.ctx, api.PrepareRequest{})
	t.no(err)
	if empty.History == nil || len(empty.History) > 0 {
		t.Errorf("nothing was added: %v", empty.History)
	}
	said := []content.Content{say(content.Human, "fix it"), say(content.AI, "done")}
	added := t.add(s, said...)
	ready, err := s.Prepare(t.ctx, api.PrepareRequest{PendingTokens: 10})
	t.no(err)
	t.same("the prepared history", ready.History, said)
	owned, err := s.History(t.ctx)
	t.no(err)
	t.same("the owned history", owned.History, said)
	is, err := s.State(t.ctx)
	t.no(err)
	want := api.StateAnswer{Session: "s", System: []json.RawMessage{}, Entries: 2, Tokens: added.Tokens,
		Revision: added.Revision}
	t.same("the state", is, want)
	t.same("the size", []any{owned.Tokens, owned.Revision, ready.Tokens, s.ID()},
		[]any{added.Tokens, added.Revision, added.Tokens, "s"})
	t.no(s.Close(t.ctx))
}

func once(t *test) {
	s := t.open(api.OpenRequest{})
	r := api.Entries(say(content.Human, "go on"))
	r.Key = "message 17"
	var answers []api.AddAnswer
	for range 2 {
		a, err := s.Add(t.ctx, r)
		answers = append(answers, must(t, a, err))
	}
	t.same("the second answer", answers[1], answers[0])
	r.Entries = append(r.Entries, say(content.AI, "more"))
	_, err := s.Add(t.ctx, r)
	if e := t.refused(err); e.Kind != api.KindEntry || e.Key != r.Key {
		t.Errorf("other entries under the key: %+v", e)
	}
	if is, err := s.State(t.ctx); err != nil || is.Entries != 1 {
		t.Errorf("%+v, %v", is, err)
	}
}

func inForm(t *test) {
	for form, messages := range map[api.Form][]json.RawMessage{
		api.Anthropic: {json.RawMessage(`{"role":"user","content":[{"type":"text","text":"What is in a.go?"}]}`),
			json.RawMessage(`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"read","input":{}}]}`),
			json.RawMessage(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a"}]}`)},
		api.OpenAIChat: {json.RawMessage(`{"role":"user","content":"x"}`),
			json.RawMessage(`{"role":"assistant","content":"y"}`)},
		api.OpenAIResponses: {json.RawMessage(`{"type":"message","role":"user","content":"x"}`)},
	} {
		s := t.open(api.OpenRequest{})
		_, err := s.Add(t.ctx, api.AddRequest{Format: form, Messages: messages, System: json.RawMessage(`"Be brief."`)})
		t.no(err)
		ready, err := s.Prepare(t.ctx, api.PrepareRequest{Format: form})
		t.no(err)
		if form == api.OpenAIChat { // which has it among the messages
			ready.Messages = ready.Messages[1:]
		}
		t.same(string(form), texts(ready.Messages), texts(messages))
		if ready.History != nil || (form == api.Anthropic) != (ready.System != nil) ||
			(form == api.OpenAIResponses) != (ready.Instructions != nil) {
			t.Errorf("%s: %v %s %s", form, ready.History, ready.System, ready.Instructions)
		}
	}
}

func texts(all []json.RawMessage) (out []string) {
	for _, m := range all {
		out = append(out, string(m))
	}
	return out
}

func since(t *test) {
	for _, form := range []api.Form{"", api.Anthropic} {
		s := t.open(api.OpenRequest{})
		t.add(s, say(content.Human, "a"), say(content.AI, "b"))
		first, err := s.Prepare(t.ctx, api.PrepareRequest{Format: form})
		t.no(err)
		t.add(s, say(content.Human, "c"))
		next, err := s.Prepare(t.ctx, api.PrepareRequest{Format: form, Since: &first.Revision})
		t.no(err)
		if first.Keep != nil || next.Keep == nil {
			t.Fatalf("keep: %v, %v", first.Keep, next.Keep)
		}
		whole, err := s.Prepare(t.ctx, api.PrepareRequest{Format: form})
		t.no(err)
		t.same("with what was kept", append(first.History[:min(*next.Keep, len(first.History))], next.History...),
			whole.History)
		t.same("messages with what was kept", texts(append(first.Messages[:min(*next.Keep, len(first.Messages))],
			next.Messages...)), texts(whole.Messages))
		stale := first.Revision + 100
		unknown, err := s.Prepare(t.ctx, api.PrepareRequest{Format: form, Since: &stale})
		t.no(err)
		t.same("since what nobody has", *unknown.Keep, 0)
	}
}

func system(t *test) {
	s := t.open(api.OpenRequest{ID: "s", System: json.RawMessage(`"be brief"`)})
	is, err := s.State(t.ctx)
	t.no(err)
	t.same("a text", texts(is.System), []string{`{"type":"text","text":"be brief"}`})
	parts := json.RawMessage(`[{"type":"text","text":"be long","cache_control":{"type":"ephemeral"}}]`)
	a, err := s.SetSystem(t.ctx, api.SystemRequest{System: parts})
	t.no(err)
	ready, err := s.Prepare(t.ctx, api.PrepareRequest{})
	t.no(err)
	t.same("parts", []any{string(ready.System), ready.SystemTokens}, []any{string(parts), a.Tokens})
	_, err = s.SetSystem(t.ctx, api.SystemRequest{System: api.Prompt(content.Text{Text: "x"}, content.Text{Text: "y"})})
	t.no(err)
	_, err = s.SetSystem(t.ctx, api.SystemRequest{System: api.Prompt()})
	t.no(err)
	is, err = s.State(t.ctx)
	t.no(err)
	t.same("none", []any{is.System, is.SystemTokens}, []any{[]json.RawMessage{}, 0})
}

func set(t *test) {
	s := t.open(api.OpenRequest{Settings: map[string]any{"model.contextLimit": "300"}})
	t.add(s, long(4)...)
	ready, err := s.Prepare(t.ctx, api.PrepareRequest{})
	if err == nil && len(ready.History) == 4 {
		t.Error("everything fits into 300 tokens")
	}
	t.no(s.Set(t.ctx, api.SetRequest{Key: "model.contextLimit", Value: 400_000}))
	ready, err = s.Prepare(t.ctx, api.PrepareRequest{})
	t.no(err)
	t.same("the limit", ready.Outcome.Limits.Context, 400_000)
	t.no(s.Set(t.ctx, api.SetRequest{Key: "model.contextLimit"}))
	ready, err = s.Prepare(t.ctx, api.PrepareRequest{})
	t.no(err)
	t.same("the host's limit", ready.Outcome.Limits.Context, contextLimit)
	_, err = t.Host.Open(t.ctx, api.OpenRequest{Settings: map[string]any{"nosuch": 1}})
	if e := t.refused(err); e.Kind != api.KindSetting || e.Field != "settings.nosuch" {
		t.Errorf("%+v", e)
	}
}

func removed(t *test) {
	s := t.open(api.OpenRequest{})
	all := long(20)
	t.add(s, all...)
	made, err := s.Compress(t.ctx)
	t.no(err)
	i := slices.IndexFunc(made.Outcome.Changes, func(c outcome.Change) bool { return c.Kind == outcome.Removed })
	if i < 0 {
		t.Fatalf("nothing was removed: %+v", made.Outcome)
	}
	id := made.Outcome.Changes[i].EntryID
	why, err := s.Explain(t.ctx, api.ExplainRequest{ID: id})
	t.no(err)
	if len(why.Changes) != 1 || why.Changes[0].EntryID != id {
		t.Errorf("%+v", why)
	}
	every, err := s.Explain(t.ctx, api.ExplainRequest{})
	t.no(err)
	if len(every.Changes) <= 1 {
		t.Errorf("of all entries: %+v", every)
	}
	was, err := s.Recorded(t.ctx, api.RecordedRequest{ID: id})
	t.no(err)
	t.same("as it was added", was.Entries, all[:1])
	found, err := s.Search(t.ctx, api.SearchRequest{Query: `"step 1"`, Limit: 1})
	t.no(err)
	if len(found.Passages) != 1 {
		t.Fatalf("%+v", found)
	}
	at := found.Passages[0].Place
	at.Line, at.Lines = 3, 9
	lines, err := s.Search(t.ctx, api.SearchRequest{Place: &at})
	t.no(err)
	t.same("the last line", lines.Passages[0].Text, "done")
	none, err := s.Search(t.ctx, api.SearchRequest{Query: "zebra"})
	t.no(err)
	t.same("nothing found", none.Passages, []outcome.Passage{})
	_, err = s.Recorded(t.ctx, api.RecordedRequest{ID: "e99"})
	if e := t.refused(err); e.Kind != api.KindEntry {
		t.Errorf("%+v", e)
	}
}

func overflow(t *test) {
	s := t.open(api.OpenRequest{})
	t.add(s, say(content.Human, "x"), say(content.Human, strings.Repeat("word ", 3000)))
	ready, err := s.Prepare(t.ctx, api.PrepareRequest{})
	e := t.refused(err)
	if e.Kind != api.KindOverflow || e.MissingTokens <= 0 || len(e.Largest) == 0 || e.Largest[0].EntryID != "e2" {
		t.Errorf("%+v", e)
	}
	if len(ready.History) != 2 || e.Prepared != nil {
		t.Errorf("beside the error: %+v", ready)
	}
	t.no(s.Set(t.ctx, api.SetRequest{Key: "model.contextLimit", Value: 400_000}))
	if _, err := s.Prepare(t.ctx, api.PrepareRequest{}); err != nil {
		t.Errorf("the next turn: %v", err)
	}
}

func reported(t *test) {
	s := t.open(api.OpenRequest{})
	added := t.add(s, long(3)...)
	todos := []sdk.Todo{{ID: "1", Content: "x", Status: "pending", Subtasks: []sdk.Todo{{Content: "y", Status: "completed"}}}}
	t.no(s.SetTodos(t.ctx, api.TodosRequest{Todos: todos}))
	t.no(s.SetTodos(t.ctx, api.TodosRequest{}))
	before, err := s.Prepare(t.ctx, api.PrepareRequest{})
	t.no(err)
	t.no(s.ReportUsage(t.ctx, api.UsageRequest{PromptTokens: 3 * added.Tokens}))
	after, err := s.Prepare(t.ctx, api.PrepareRequest{})
	t.no(err)
	if after.Outcome.Projected <= before.Outcome.Projected {
		t.Errorf("projected before %d, after the report %d", before.Outcome.Projected, after.Outcome.Projected)
	}
}

func opaque(t *test) {
	s := t.open(api.OpenRequest{})
	entry := content.Content{Speaker: content.Human,
		Blocks: []content.Block{content.ParseBlock(json.RawMessage(`{"type":"hologram","data":1}`))}}
	_, err := s.Add(t.ctx, api.Entries(say(content.Human, "x"), entry))
	e := t.refused(err)
	if e.Kind != api.KindEntry || e.Entry == nil || *e.Entry != 1 || e.Field != "entries[1].blocks[0].type" {
		t.Errorf("%+v", e)
	}
	r := api.Entries(entry)
	r.Opaque = true
	_, err = s.Add(t.ctx, r)
	t.no(err)
	owned, err := s.History(t.ctx)
	t.no(err)
	t.same("as it was", string(owned.History[0].AppendJSON(nil)), string(entry.AppendJSON(nil)))
}
