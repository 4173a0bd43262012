package proxy_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// limited is stand for a client with a token that may spend a dollar a day, and spend adds to what it has spent.
func limited(t *testing.T, upstream string, set map[string]any) (p *standing, token string, spend func(usd float64)) {
	var guard *access.Guard
	p = stand(t, upstream, set, func(o *proxy.Options) {
		kept := o.Host.Store()
		guard = access.NewGuard(kept, "", hclog.NewNullLogger())
		o.Guard = guard
		var err error
		if token, err = access.Create(t.Context(), kept, "alice", access.Limits{USDPerDay: 1}); err != nil {
			t.Fatal(err)
		}
	})
	return p, token, func(usd float64) {
		settle, err := guard.Book(t.Context(), "alice", min(usd, 1)) // a request that came to more than was booked
		if err != nil {
			t.Fatal(err)
		}
		settle(usd)
	}
}

// Where no turn can be run, because the money of the client's token is spent, the provider gets all that was said since
// the last one: in the middle of a conversation, with a retry, and in one that begins.
func TestNothingIsLostWhenNoTurnIsRun(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm func() form) {
		up := provider(t, modelapi.Options{Script: work(3)})
		p, token, spend := limited(t, up.URL, map[string]any{"compression.density.cadence": "every-turn"})
		a := &agent{form: newForm(), base: p.url + "/t/" + token, result: files}
		if status := a.run(t, "The first question."); status != http.StatusOK {
			t.Fatal(status)
		}
		spend(2)
		check := func(what string, words ...string) {
			t.Helper()
			all := up.Models()
			for _, w := range words {
				if last := string(all[len(all)-1].Body); !strings.Contains(last, w) {
					t.Errorf("%s: %q is not in what was sent:\n%.300s", what, w, last)
				}
			}
		}
		a.items = append(a.items, a.form.user("The second question."))
		for _, what := range []string{"a later request", "its retry"} {
			a.ask(t)
			check(what, "The first question.", "The second question.")
		}
		other := &agent{form: a.form, base: a.base, items: a.items[1:]}
		other.items = append([]rawItem{a.form.user("Another beginning.")}, other.items...)
		other.ask(t)
		check("a first request", "Another beginning.", "f1.go", "The second question.")
		// No model that binds its thinking takes it behind another beginning.
		if refused := up.Refused(); len(refused) > p.proxy.Totals().Resent || p.proxy.Totals().Failed != 3 {
			t.Errorf("refused %q; %+v", refused, p.proxy.Totals())
		}
	})
}

// What a provider reports for requests that no turn was run for says nothing of what the next turn will send.
func TestAReportWithoutATurnTeachesNothing(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(6)})
	p, token, spend := limited(t, up.URL, map[string]any{"model.contextLimit": 40_000,
		"compression.density.readWritePruning": false})
	spend(2)
	a := &agent{form: messagesForm{"s"}, base: p.url + "/t/" + token, result: files}
	if status := a.run(t, "Fix it."); status != http.StatusOK {
		t.Fatal(status)
	}
	spend(-2)
	a.items = append(a.items, a.form.user("Go on."))
	a.ask(t)
	all := up.Models()
	if last := all[len(all)-1]; string(last.Body) != string(a.sent[len(a.sent)-1]) {
		t.Errorf("a request of %d tokens was made smaller: %d bytes, of %d", all[len(all)-2].Tokens, len(last.Body),
			len(a.sent[len(a.sent)-1]))
	}
}

// A request that goes on from a session that was deleted meanwhile begins one of its own.
func TestAForkOfADeletedSession(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(2)})
	var kept store.Store
	p := stand(t, up.URL, nil, func(o *proxy.Options) { kept = o.Host.Store() })
	a := &agent{form: messagesForm{"s1"}, base: p.url, result: files}
	if status := a.run(t, "Fix it."); status != http.StatusOK {
		t.Fatal(status)
	}
	if err := kept.Delete(t.Context(), store.Key{ID: "claude-s1"}); err != nil {
		t.Fatal(err)
	}
	fork := &agent{form: a.form, base: p.url, result: files, items: a.items[:3:3]}
	if status := fork.run(t, "Something else."); status != http.StatusOK || p.proxy.Totals().Failed > 0 {
		t.Errorf("%d; %+v", status, p.proxy.Totals())
	}
}

// A session whose memory is released behind each call can be gone on from at an earlier point.
func TestAForkOfAReleasedSession(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(2)})
	var kept store.Store
	p := stand(t, up.URL, map[string]any{"sessions.maxMemory": 1,
		"sessions.store": "sqlite:" + filepath.Join(t.TempDir(), "s.db")}, func(o *proxy.Options) { kept = o.Host.Store() })
	a := &agent{form: messagesForm{"s1"}, base: p.url, result: files}
	if status := a.run(t, "Fix it."); status != http.StatusOK {
		t.Fatal(status)
	}
	fork := &agent{form: a.form, base: p.url, result: files, items: a.items[:3:3]}
	status := fork.run(t, "Something else.")
	h, err := kept.Head(t.Context(), store.Key{ID: "claude-s1.2"})
	if status != http.StatusOK || p.proxy.Totals().Failed > 0 || err != nil || h.ForkedEntries != 3 || h.ForkedAt == 0 {
		t.Errorf("%d; %+v; %+v, %v", status, p.proxy.Totals(), h.Origin, err)
	}
}

// panicking is a store that panics once when it is written to.
type panicking struct {
	store.Store
	next atomic.Bool
}

func (p *panicking) Append(ctx context.Context, key store.Key, at store.Position, c store.Change) (store.Head, error) {
	if p.next.Swap(false) {
		panic("a defect")
	}
	return p.Store.Append(ctx, key, at, c)
}

// A panic while a conversation is added to costs one request its savings, and the next one does not wait for it.
func TestAPanicHoldsNothingUp(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(2)})
	broken := &panicking{Store: store.NewMemory()}
	p := stand(t, up.URL, nil, func(o *proxy.Options) {
		h, err := window.Open(window.Options{Config: o.Host.Config(), Logger: hclog.NewNullLogger(), Store: broken})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		o.Host = h
	})
	a := &agent{form: messagesForm{"s"}, base: p.url, result: files}
	if status := a.run(t, "Fix it."); status != http.StatusOK {
		t.Fatal(status)
	}
	edited := p.proxy.Totals().Edited
	broken.next.Store(true)
	a.items = append(a.items, a.form.user("Go on."))
	for range 2 {
		if status, answer := a.ask(t); status != http.StatusOK {
			t.Fatal(status, string(answer))
		}
	}
	if got := p.proxy.Totals(); got.Failed != 1 || got.Edited != edited+1 {
		t.Errorf("%+v", got)
	}
}

// shrinking is a client whose system prompt gets shorter with each request.
type shrinking struct {
	messagesForm
	left *int
}

func (s shrinking) body(items []rawItem) []byte {
	*s.left--
	return []byte(strings.Replace(string(s.messagesForm.body(items)), "You are a test.",
		strings.Repeat("You are a test. ", *s.left), 1))
}

// A system prompt that the client changes is no rewrite of the conversation.
func TestAnotherSystemPromptIsNoRewrite(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(2)})
	p := stand(t, up.URL, map[string]any{"compression.density.readWritePruning": false})
	left := 1000
	a := &agent{form: shrinking{messagesForm{"s"}, &left}, base: p.url, result: files}
	if status := a.run(t, "Fix it."); status != http.StatusOK {
		t.Fatal(status)
	}
	if got := p.proxy.Totals(); got.Rewrites > 0 || got.Failed > 0 || got.Whole != got.Sent {
		t.Errorf("%+v", got)
	}
}

// What a client sends counts the same whether or not a result takes the place of each reference in it, and a question
// for the tokens of a request begins no conversation.
func TestTheWholeIsWhatTheClientSent(t *testing.T) {
	const reference = "Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead."
	f := messagesForm{"s"}
	read := func(n, text string) []rawItem {
		return []rawItem{raw(`{"role":"assistant","content":[{"type":"tool_use","id":"a%[1]s","name":"read_file","input":{"path":"a"}},`+
			`{"type":"tool_use","id":"b%[1]s","name":"read_file","input":{"path":"b"}}]}`, n),
			raw(`{"role":"user","content":[{"tool_use_id":"a%[1]s","type":"tool_result","content":%[2]s},`+
				`{"tool_use_id":"b%[1]s","type":"tool_result","content":%[2]s}]}`, n, quoted(text))}
	}
	items := append([]rawItem{f.user("Fix it.")}, read("1", strings.Repeat("what the file says\n", 100))...)
	items = append(items, read("2", reference)...)
	up := newEcho(t)
	whole := func(as func(string) string) int {
		p := stand(t, up.URL, map[string]any{"compression.density.readWritePruning": false})
		body := []byte(as(string(f.body(items))))
		if status, answer, err := post(p.url+f.path(), f.header(), body); err != nil || status != http.StatusOK {
			t.Fatal(status, string(answer), err)
		}
		return p.proxy.Totals().Whole
	}
	with := whole(func(s string) string { return s })
	without := whole(func(s string) string { return strings.ReplaceAll(s, "Wasted call —", "wasted call —") })
	if without-with > 20 || with-without > 20 { // "Wasted" and "wasted" may count differently
		t.Errorf("the client's request counts %d tokens, and %d with words that refer to nothing", with, without)
	}
}

// A question for the number of tokens changes nothing, also if it is about a compaction that the model cannot take.
func TestCountingACompactionBeginsNoConversation(t *testing.T) {
	up := newEcho(t)
	var kept store.Store
	p := stand(t, up.URL, map[string]any{"model.contextLimit": 2000}, func(o *proxy.Options) { kept = o.Host.Store() })
	f := messagesForm{"s"}
	body := f.body([]rawItem{f.user(strings.Repeat("words ", 5000)), raw(`{"role":"assistant","content":"Yes."}`),
		f.user("Respond with TEXT ONLY")})
	if status, answer, err := post(p.url+"/v1/messages/count_tokens", f.header(), body); err != nil || status != http.StatusOK {
		t.Fatal(status, string(answer), err)
	}
	size, err := kept.Size(t.Context())
	if got := up.take(); err != nil || size.Sessions > 0 || len(got) != 1 || got[0] != brief(body) {
		t.Errorf("%d sessions; %q went out; %v", size.Sessions, got, err)
	}
}
