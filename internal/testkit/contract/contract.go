package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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

func listed(t *test) {
	for _, id := range []string{"c", "a", "b"} {
		t.add(t.open(api.OpenRequest{ID: id}), say(content.Human, id))
	}
	t.open(api.OpenRequest{ID: "d"}) // nothing is stored of it
	var pages []string
	for after, more := "", true; more; {
		page, err := t.Host.Sessions(t.ctx, api.ListRequest{After: after, Limit: 3})
		t.no(err)
		ids := ""
		for _, s := range page.Sessions {
			after = s.Session
			ids += after
			if (s.Entries == 1) != (after != "d") {
				t.Errorf("%+v", s)
			}
			if _, err := t.open(api.OpenRequest{ID: after + "'"}).State(t.ctx); err != nil {
				t.Error(err)
			}
			t.no(t.Host.Delete(t.ctx, api.Of{Session: after + "'"}))
		}
		pages, more = append(pages, ids), page.More
	}
	t.same("pages", pages, []string{"abc", "d"})
	all, err := t.Host.Sessions(t.ctx, api.ListRequest{Limit: math.MaxInt})
	t.no(err)
	_, err = t.Host.Sessions(t.ctx, api.ListRequest{Limit: -1})
	if e := t.refused(err); len(all.Sessions) != 4 || e.Kind != api.KindRequest || e.Field != "limit" {
		t.Errorf("%d sessions, and a limit below 0: %+v", len(all.Sessions), e)
	}
	t.no(t.Host.Delete(t.ctx, api.Of{Session: "a"}))
	e := t.refused(t.Host.Delete(t.ctx, api.Of{Session: "a"}))
	if e.Kind != api.KindSession {
		t.Errorf("%+v", e)
	}
}

func reopened(t *test) {
	s := t.open(api.OpenRequest{ID: "s", Settings: map[string]any{"compression.threshold": 0.5}})
	t.add(s, long(3)...)
	_, err := s.SetSystem(t.ctx, api.SystemRequest{System: json.RawMessage(`"x"`)})
	t.no(err)
	before, err := s.State(t.ctx)
	t.no(err)
	t.no(s.Close(t.ctx))
	s = t.open(api.OpenRequest{ID: "s"})
	after, err := s.State(t.ctx)
	t.no(err)
	t.same("the state", after, before)
	ready, err := s.Prepare(t.ctx, api.PrepareRequest{})
	t.no(err)
	t.same("the threshold", ready.Outcome.Limits.Threshold, 0.5)
}

func watched(t *test) {
	s := t.open(api.OpenRequest{ID: "s"})
	other := t.open(api.OpenRequest{ID: "other"})
	var seen []string
	for e, err := range t.Host.Watch(t.ctx, api.WatchRequest{Session: "s"}) {
		t.no(err)
		switch {
		case e.Session == "":
			t.add(s, long(2)...)
			_, err = other.Prepare(t.ctx, api.PrepareRequest{})
			t.no(err)
			_, err = s.Prepare(t.ctx, api.PrepareRequest{PendingTokens: 7})
			t.no(err)
			_, err = s.Compress(t.ctx)
			t.no(err)
			_, err = s.Prepare(t.ctx, api.PrepareRequest{PendingTokens: 5000})
			t.refused(err)
			continue
		case e.Error != nil:
			seen = append(seen, string(e.Error.Kind))
		default:
			seen = append(seen, fmt.Sprint(e.Session, " ", e.Method, " ", e.Pending, " ", e.Tokens > 0))
		}
		if len(seen) == 3 {
			break
		}
	}
	t.same("turns", seen, []string{"s prepare 7 true", "s compress 0 true", "overflow"})
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	var last error
	for _, err := range t.Host.Watch(ctx, api.WatchRequest{}) {
		last = err
		cancel()
	}
	if e := t.refused(last); e.Kind != api.KindCanceled {
		t.Errorf("a watch that was given up ends with %v", last)
	}
}

func host(t *test) {
	info, err := t.Host.Info(t.ctx)
	t.no(err)
	if info.Name != "thresh" || !slices.Contains(info.Strategies, "distill") {
		t.Errorf("%+v", info)
	}
	counted, err := t.Host.Count(t.ctx, api.CountRequest{Entries: long(2)})
	t.no(err)
	added := t.add(t.open(api.OpenRequest{}), long(2)...)
	t.same("counted", counted, api.CountAnswer{Tokens: added.Tokens, Each: []int{added.Tokens / 2, added.Tokens / 2}})
	found, err := t.Host.Plugins(t.ctx)
	t.no(err)
	if !slices.ContainsFunc(found.Plugins, func(p outcome.Plugin) bool { return p.Name == "distill" }) {
		t.Errorf("%+v", found)
	}
	reset, err := t.Host.ResetPlugin(t.ctx, api.ResetRequest{Name: "nosuch"})
	t.no(err)
	t.same("a plugin that never ran", reset.Reset, false)
	_, err = t.Host.LockPlugins(t.ctx, api.LockRequest{Names: []string{"nosuch"}})
	if e := t.refused(err); e.Kind != api.KindSetting && e.Kind != api.KindStrategy {
		t.Errorf("%+v", e)
	}
}

// An id that is not UTF-8 would be another one in JSON: a Go program does not have it either.
func named(t *test) {
	for _, id := range []string{"a\xff", "a\nb", strings.Repeat("x", 513)} {
		_, err := t.Host.Open(t.ctx, api.OpenRequest{ID: id})
		for field, err := range map[string]error{"id": err, "session": t.Host.Delete(t.ctx, api.Of{Session: id})} {
			if e := t.refused(err); e.Field != field || e.Kind != api.KindSession && e.Kind != api.KindRequest {
				t.Errorf("%q: %+v", id, e)
			}
		}
	}
}

func alone(t *test) {
	messages := []json.RawMessage{json.RawMessage(`{"role":"user","content":"read them all"}`)}
	for i := range 12 {
		messages = append(messages, fmt.Appendf(nil, `{"role":"assistant","content":null,"tool_calls":[{"id":"c%d",`+
			`"type":"function","function":{"name":"read","arguments":"{}"}}]}`, i),
			fmt.Appendf(nil, `{"role":"tool","tool_call_id":"c%d","content":%q}`, i, strings.Repeat("text ", 200)))
	}
	made, err := t.Alone.Compress(t.ctx, api.CompressMessages{Messages: messages, Model: "gpt-5"})
	t.no(err)
	i := slices.IndexFunc(made.Removed, func(r api.Removed) bool { return r.Kind == content.KindToolResponse })
	if i < 0 || made.Format != api.OpenAIChat || made.TokensAfter >= made.TokensBefore {
		t.Fatalf("%+v", made)
	}
	part, err := t.Alone.Retrieve(t.ctx, api.RetrieveRequest{ID: made.Removed[i].ID})
	t.no(err)
	t.same("a removed result", []any{part.Tool, len(part.Content)}, []any{"read", 1000})
	_, err = t.Alone.Retrieve(t.ctx, api.RetrieveRequest{ID: strings.Repeat("1", 24)})
	if e := t.refused(err); e.Kind != api.KindEntry {
		t.Errorf("%+v", e)
	}
}
