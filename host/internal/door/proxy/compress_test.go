package proxy_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
	"github.com/thresh-dev/thresh/sdk/content"
)

// stateless is a host for messages that come alone. A second host of the same settings shares a store that is a file.
func stateless(t testing.TB, set map[string]any) (*proxy.Server, *window.Host) {
	t.Helper()
	o := window.Options{Config: settings.Load(t, pluginDir, set), Logger: hclog.NewNullLogger(), Keep: true}
	if o.Config.Settings().Sessions.Store == "memory" {
		o.Store = store.NewMemory()
	}
	h, err := window.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	p := proxy.New(proxy.Options{Host: h, Logger: hclog.NewNullLogger(), Recall: &proxy.Recall{}})
	t.Cleanup(func() { p.Close(); _ = h.Close() })
	return p, h
}

func compressed(t testing.TB, p *proxy.Server, from string, r api.CompressMessages) api.CompressedMessages {
	t.Helper()
	a, err := p.Compress(t.Context(), access.Grant{Name: from}, r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// requests are the beginnings of a conversation that its agent sent to the model: those that the model answered in it,
// each with its end.
func requests(messages []json.RawMessage) (ends []int) {
	own := func(m json.RawMessage) bool {
		var of struct{ Role, Type string }
		_ = json.Unmarshal(m, &of)
		return of.Role == "assistant" || slices.Contains([]string{"function_call", "custom_tool_call", "reasoning"}, of.Type)
	}
	for i := 1; i < len(messages); i++ {
		if own(messages[i]) && !own(messages[i-1]) {
			ends = append(ends, i)
		}
	}
	return ends
}

// meter prices requests as a provider with a prompt cache does: what a request has in common with the one before is
// read from it.
type meter struct {
	t      testing.TB
	host   *window.Host
	prices *pricing.Meter
	counts map[string]int
	last   []json.RawMessage
	at     time.Time
	usd    float64
	tokens int
	breaks int // requests that do not begin with all of the one before
}

func newMeter(t testing.TB, h *window.Host, list *pricing.List) *meter {
	return &meter{t: t, host: h, prices: pricing.NewMeter(list), counts: map[string]int{}, at: time.Unix(1e9, 0)}
}

func (m *meter) count(message json.RawMessage) int {
	n, known := m.counts[string(message)]
	if !known {
		counted, err := m.host.Count(m.t.Context(), []content.Content{{Speaker: content.Human,
			Blocks: []content.Block{content.Text{Text: string(message)}}}})
		if err != nil {
			m.t.Fatal(err)
		}
		n = counted.Tokens(0)
		m.counts[string(message)] = n
	}
	return n
}

// meant is what a provider reads of a message: not its white space, and no member that is null.
func meant(t testing.TB, message json.RawMessage) json.RawMessage {
	var o map[string]any
	if err := json.Unmarshal(message, &o); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(o, func(_ string, v any) bool { return v == nil })
	out, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (m *meter) request(all []json.RawMessage) {
	messages := make([]json.RawMessage, len(all))
	for i, message := range all {
		messages[i] = meant(m.t, message)
	}
	r, same, before := pricing.Request{At: m.at}, true, 0
	for i, message := range messages {
		n := m.count(message)
		r.Tokens += n
		if same = same && i < len(m.last) && bytes.Equal(message, m.last[i]); same {
			r.Stable += n
		}
	}
	for _, message := range m.last {
		before += m.count(message)
	}
	if r.Stable < before {
		m.breaks++
	}
	m.usd += m.prices.Request(r).USD
	m.tokens += r.Tokens
	m.last, m.at = messages, m.at.Add(20*time.Second)
}

// Calls that keep nothing cost what a session costs on recorded conversations, as a share of what doing nothing does: on
// average within 3 points, because one rewrite more or less is much of a short conversation. What is removed once stays
// removed in the same words, so that the provider's cache is read.
func TestMessagesThatComeAloneCostWhatASessionDoes(t *testing.T) {
	race.Skip(t)
	catalog, err := pricing.Load("")
	if err != nil {
		t.Fatal(err)
	}
	native := filepath.Join(repo.Shared(t, "sessions"), "native")
	inSessions, alones, of := 0.0, 0.0, 0.0
	for _, c := range []struct {
		file, list string
		form       api.Form
		model      string
		limit      int
	}{
		{native + "/agentv/claude-7a-d2528cc37f-0.jsonl", "anthropic-sonnet", api.Anthropic, "claude-sonnet-4-5", 4_000},
		{native + "/agentv/codex-3c-162d1d8ad4-1.jsonl", "openai-gpt-5", api.OpenAIResponses, "gpt-5", 24_000},
		{native + "/tau-bench/airline-task33-trial0.json", "openai-gpt-5", api.OpenAIChat, "gpt-5", 8_000},
	} {
		for _, strategy := range []string{"distill", "high-density", "top-down-truncation"}[:full.Or(1, 3)] {
			t.Run(filepath.Base(c.file)+"/"+strategy, func(t *testing.T) {
				list, err := catalog.Named(c.list)
				if err != nil {
					t.Fatal(err)
				}
				set := map[string]any{"compression.strategy": strategy, "model.contextLimit": c.limit, "model.name": c.model}
				p, h := stateless(t, set)
				session, err := host.Of(h).Open(t.Context(), api.OpenRequest{})
				if err != nil {
					t.Fatal(err)
				}
				all := repo.Messages(t, c.file)
				nothing, held, alone := newMeter(t, h, list), newMeter(t, h, list), newMeter(t, h, list)
				added := 0
				for _, end := range requests(all) {
					nothing.request(all[:end])
					if _, err := session.Add(t.Context(),
						api.AddRequest{Format: c.form, Messages: all[added:end]}); err != nil {
						t.Fatal(err)
					}
					added = end
					ready, err := session.Prepare(t.Context(), api.PrepareRequest{Format: c.form})
					if err != nil {
						t.Fatal(err)
					}
					held.request(ready.Messages)
					a := compressed(t, p, "", api.CompressMessages{Messages: all[:end], Model: c.model, Format: c.form})
					alone.request(a.Messages)
				}
				with, without := 100*held.usd/nothing.usd, 100*alone.usd/nothing.usd
				t.Logf("%d requests of %d tokens; a session sends %d, %d rewrites, %.1f %% of the cost; calls %d, %d, %.1f %%",
					len(requests(all)), nothing.tokens, held.tokens, held.breaks, with, alone.tokens, alone.breaks, without)
				inSessions, alones, of = inSessions+with, alones+without, of+1
			})
		}
	}
	if alones > inSessions+3*of {
		t.Errorf("sessions cost %.1f %% of doing nothing, and calls that keep nothing %.1f %%", inSessions/of, alones/of)
	}
}

// shrunk is a client that has its messages made small, and sends them itself.
type shrunk struct {
	form
	test    testing.TB
	host    *proxy.Server
	model   string
	limit   int
	answers *[]api.CompressedMessages
}

func (f shrunk) body(items []rawItem) []byte {
	a := compressed(f.test, f.host, "alice",
		api.CompressMessages{Messages: items, Model: f.model, ContextLimit: f.limit})
	*f.answers = append(*f.answers, a)
	return f.form.body(a.Messages)
}

// hashes is how LiteLLM finds what a model may ask for, in texts and parts with a text.
var hashes = regexp.MustCompile(`hash=([a-f0-9]{24})`)

// What a call returns can be sent as it is: a provider that checks everything refuses nothing. It begins as the last
// did unless more was removed, has an id where a result was, and each id gives back what was there: from the host that
// gave it, and from another of the same store. Nobody else gets anything by it.
func TestCompressedMessagesCanBeSent(t *testing.T) {
	for name, newForm := range map[api.Form]func() form{api.Anthropic: forms["messages"], api.OpenAIChat: forms["chat"],
		api.OpenAIResponses: forms["responses"]} {
		for _, strategy := range []string{"high-density", "top-down-truncation"} {
			t.Run(string(name)+"/"+strategy, func(t *testing.T) {
				t.Parallel()
				set := map[string]any{"compression.strategy": strategy, "compression.density.cadence": "every-turn",
					"sessions.store": "sqlite:" + filepath.Join(t.TempDir(), "s.db")}
				p, _ := stateless(t, set)
				up := provider(t, modelapi.Options{Script: work(12), ContextLimit: 12_000})
				model := cmp.Or(map[api.Form]string{api.Anthropic: "claude-opus-5-5"}[name], "gpt-5")
				var answers []api.CompressedMessages
				said := map[string]bool{}
				a := &agent{form: shrunk{newForm(), t, p, model, 8000, &answers}, base: up.URL, result: func(turn int, c call) string {
					text := files(turn, c)
					said[text] = true
					return text
				}}
				if status := a.run(t, "Fix it."); status != http.StatusOK || len(up.Refused()) > 0 {
					t.Fatalf("%d, refused: %q", status, up.Refused())
				}
				sent, ids, marked := up.Models(), map[string]string{}, 0
				for i, now := range answers[1:] {
					last := answers[i]
					if slices.Equal(last.Removed, now.Removed) && !modelapi.Continues(sent[i].Body, sent[i+1].Body) {
						t.Errorf("request %d removes nothing more and begins otherwise", i+1)
					}
					if now.TokensAfter > now.TokensBefore || now.TokensAfter > 8000 {
						t.Errorf("%d tokens of %d", now.TokensAfter, now.TokensBefore)
					}
					for _, r := range now.Removed {
						if ids[r.ID] = r.Kind; r.ID == "" && r.Kind != "thinking" {
							t.Errorf("%+v cannot be had again", r)
						}
					}
				}
				for _, r := range sent {
					for _, m := range hashes.FindAllStringSubmatch(string(r.Body), -1) {
						if marked++; ids[m[1]] != "tool_response" {
							t.Errorf("%s is in a text, and of %q", m[1], ids[m[1]])
						}
					}
				}
				end := answers[len(answers)-1]
				if end.Format != name || end.TokensAfter > end.TokensBefore/2 || marked == 0 && strategy == "high-density" {
					t.Errorf("%s; %d tokens of %d, %d ids in texts", end.Format, end.TokensAfter, end.TokensBefore, marked)
				}
				again, _ := stateless(t, set) // which has no conversation in memory
				for id, kind := range ids {
					for from, h := range map[string]*proxy.Server{"the host": p, "another": again} {
						part, err := h.Retrieve(t.Context(), access.Grant{Name: "alice"}, api.RetrieveRequest{ID: id})
						if id != "" && (err != nil || part.Kind != kind || kind == "tool_response" && !said[part.Content]) {
							t.Errorf("%s of %s: %v, %.80q", id, from, err, part.Content)
						}
						if part, err := h.Retrieve(t.Context(), access.Grant{Name: "bob"},
							api.RetrieveRequest{ID: id}); host.ErrorOf(err).Status != http.StatusNotFound {
							t.Errorf("%s of %s, for another: %v, %.80q", id, from, err, part.Content)
						}
					}
				}
			})
		}
	}
}

// Another owner with the same messages has a conversation of its own, and so has another strategy or limit.
func TestMessagesOfAnotherOwnerAreAnotherConversation(t *testing.T) {
	p, h := stateless(t, map[string]any{"compression.strategy": "high-density"})
	all := repo.Messages(t, filepath.Join(repo.Shared(t, "sessions"), "native", "agentv", "claude-7a-d2528cc37f-0.jsonl"))
	count := func() (n int) {
		for _, owner := range []string{"alice", "bob"} {
			for _, err := range h.Store().List(t.Context(), store.Filter{Owner: owner}) {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
		}
		return n
	}
	ends := requests(all)
	for i, c := range []struct {
		owner string
		r     api.CompressMessages
	}{{"alice", api.CompressMessages{}}, {"bob", api.CompressMessages{}},
		{"alice", api.CompressMessages{Strategy: "distill"}}, {"alice", api.CompressMessages{ContextLimit: 6000}}} {
		for _, end := range ends[len(ends)-3:] {
			c.r.Messages = all[:end]
			compressed(t, p, c.owner, c.r)
		}
		if n := count(); n != i+1 {
			t.Errorf("%+v: %d sessions", c.owner, n)
		}
	}
}

// Calls at the same time, of the same conversation and of others, get what they get one after another: a request is made
// small in one way, however many send it, and its parts can be had while others make them. Where a conversation's own
// requests overtake each other, each answer can still be sent.
func TestCallsAtTheSameTime(t *testing.T) {
	const callers, limit = 4, 6000
	set := map[string]any{"compression.strategy": "high-density", "compression.density.cadence": "every-turn"}
	inTurn, _ := stateless(t, set)
	p, _ := stateless(t, set)
	ids := regexp.MustCompile(`\d{24}`) // another host gives others
	call := func(p *proxy.Server, owner string, messages []json.RawMessage) (string, error) {
		a, err := p.Compress(t.Context(), access.Grant{Name: owner},
			api.CompressMessages{Messages: messages, Model: "gpt-5", ContextLimit: limit})
		if err == nil && a.TokensAfter > limit {
			err = fmt.Errorf("%d tokens", a.TokensAfter)
		}
		for _, part := range a.Removed {
			if _, failed := p.Retrieve(t.Context(), access.Grant{Name: owner},
				api.RetrieveRequest{ID: part.ID}); err == nil && failed != nil {
				err = failed
			}
		}
		text, _ := json.Marshal(a)
		return ids.ReplaceAllString(string(text), "an id"), err
	}
	var all sync.WaitGroup
	for i, c := range []struct{ owner, task string }{{"alice", "one"}, {"alice", "two"}, {"bob", "one"}} {
		all.Go(func() {
			for exchanges := 1; exchanges < 12; exchanges += 2 {
				messages := reads(c.task, exchanges)
				want, err := call(inTurn, c.owner, messages)
				if err != nil || exchanges == 11 && !strings.Contains(want, "an id") {
					t.Errorf("%v, one after another: %v, %.900s", c, err, want)
				}
				var same sync.WaitGroup
				for range callers {
					same.Go(func() {
						if got, err := call(p, c.owner, messages); err != nil || got != want {
							t.Errorf("%v, %d exchanges: %v, otherwise than one after another:\n%.900s\n%.900s", c, exchanges, err, want, got)
						}
					})
				}
				same.Wait()
			}
		})
		all.Go(func() {
			var any sync.WaitGroup
			for exchanges := 1; exchanges < 12; exchanges += 2 {
				any.Go(func() {
					if _, err := call(p, "carol", reads(fmt.Sprint(i), exchanges)); err != nil {
						t.Errorf("%d exchanges, among others: %v", exchanges, err)
					}
				})
			}
			any.Wait()
		})
	}
	all.Wait()
}

// reads is a conversation that begins with a task, whose agent reads three files again and again.
func reads(task string, exchanges int) (all []json.RawMessage) {
	all = append(all, fmt.Appendf(nil, `{"role":"user","content":%q}`, task))
	for i := range exchanges {
		file, text := fmt.Sprintf("f%d.go", i%3), strings.Repeat(fmt.Sprintf("// line %d\n", i), 250)
		all = append(all, fmt.Appendf(nil, `{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function",`+
			`"function":{"name":"read_file","arguments":"{\"file_path\": \"%s\"}"}}]}`, i, file),
			fmt.Appendf(nil, `{"role":"tool","tool_call_id":"c%d","content":%q}`, i, text))
	}
	return all
}

// What is wrong is said with its path, and nothing is kept of it. What the host cannot judge is left as it came.
func TestWrongMessagesAreRefusedWithTheirPath(t *testing.T) {
	p, h := stateless(t, map[string]any{"compression.strategy": "high-density"})
	messages := func(all ...string) api.CompressMessages {
		r := api.CompressMessages{Messages: []json.RawMessage{}}
		for _, m := range all {
			r.Messages = append(r.Messages, json.RawMessage(m))
		}
		return r
	}
	const user, call = `{"role":"user","content":"x"}`, `{"role":"assistant","content":null,"tool_calls":` +
		`[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	const result = `{"role":"tool","tool_call_id":"a","content":"y"}`
	with := func(r api.CompressMessages, f func(*api.CompressMessages)) api.CompressMessages {
		f(&r)
		return r
	}
	for field, r := range map[string]api.CompressMessages{
		"messages":     messages(),
		"messages[1]":  messages(user, `"text"`),
		"messages[2]":  messages(user, call, `{"role":"robot","content":"x"}`),
		"messages[3]":  messages(user, call, result, `{"role":"tool","tool_call_id":"b","content":"y"}`),
		"format":       with(messages(user), func(r *api.CompressMessages) { r.Format = "xml" }),
		"contextLimit": with(messages(user), func(r *api.CompressMessages) { r.ContextLimit = -1 }),
		"strategy":     with(messages(user), func(r *api.CompressMessages) { r.Strategy = "one-shot" }),
	} {
		_, err := p.Compress(t.Context(), access.Grant{}, r)
		if wrong, ok := errors.AsType[*api.Error](err); !ok || wrong.Field != field {
			t.Errorf("%s: %T %v", field, err, err)
		}
	}
	for head := range h.Store().List(t.Context(), store.Filter{}) {
		t.Errorf("%s is kept", head.ID)
	}
	a := compressed(t, p, "", messages(user, call))
	if a.Unchanged != "open-tools" || len(a.Messages) != 2 || a.TokensBefore == 0 || a.TokensAfter != a.TokensBefore {
		t.Errorf("a call without its result: %+v", a)
	}
	if _, err := p.Compress(t.Context(), access.Grant{}, api.CompressMessages{Messages: []json.RawMessage{
		json.RawMessage(`{"role":"user","content":"` + strings.Repeat("x", 64<<20) + `"}`)}}); err == nil {
		t.Error("a body above the bound was taken")
	}
	_, err := p.Compress(t.Context(), access.Grant{}, with(messages(user, `{"role":"assistant","content":"`+
		strings.Repeat("word ", 5000)+`"}`, user), func(r *api.CompressMessages) { r.ContextLimit = 1000 }))
	if err == nil || host.ErrorOf(err).Kind != api.KindOverflow {
		t.Errorf("what does not fit: %v", err)
	}
}
