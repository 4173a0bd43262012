package proxy_test

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// long is a client that asks for the window of a million tokens.
func long(session string) named {
	return named{messagesForm{session}, [][2]string{{"Anthropic-Beta", "context-1m-2025-08-07"}}}
}

// other is a client of another model.
type other struct{ messagesForm }

func (o other) body(items []rawItem) []byte {
	return []byte(strings.Replace(string(o.messagesForm.body(items)), "claude-test", "claude-other", 1))
}

// A limit that a refusal taught holds for the window and the model that were asked for, in other conversations and in
// the one that goes on with another of them.
func TestALearnedLimitIsOfItsWindowAndModel(t *testing.T) {
	for name, c := range map[string]struct{ first, then form }{
		"a longer window":                     {messagesForm{"a"}, long("b")},
		"a shorter window":                    {long("a"), messagesForm{"b"}},
		"a longer window in a conversation":   {messagesForm{"a"}, long("a")},
		"a shorter window in a conversation":  {long("a"), messagesForm{"a"}},
		"another model":                       {messagesForm{"a"}, other{messagesForm{"b"}}},
		"another model in a conversation":     {messagesForm{"a"}, other{messagesForm{"a"}}},
		"the first again in the conversation": {other{messagesForm{"a"}}, messagesForm{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := newEcho(t)
			p := stand(t, up.URL, nil)
			refuse := func(w http.ResponseWriter) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":{"message":"prompt is too long: 12000 tokens > 9000 maximum"}}`)
			}
			words := strings.Repeat("word ", 12_000)
			a := &agent{form: c.first, base: p.url, items: []rawItem{c.first.user(words)}}
			answer := up.answer
			up.answer = refuse
			a.ask(t)
			a.ask(t) // now the limit is in force
			up.answer = answer
			failed := p.proxy.Totals().Failed
			if failed == 0 || p.proxy.Totals().Learned == 0 {
				t.Fatalf("no limit is in force: %+v", p.proxy.Totals())
			}
			up.take()
			a.form = c.then
			a.items = append(a.items, raw(`{"role":"assistant","content":"Yes."}`), c.then.user("Go on."))
			a.ask(t)
			if got := up.take(); len(got) != 1 || got[0] != brief(a.sent[2]) || p.proxy.Totals().Failed > failed {
				t.Errorf("%q went out of %q; %+v", got, brief(a.sent[2]), p.proxy.Totals())
			}
		})
	}
}

// A conversation that had the window of a million tokens, and goes on in a later process without it, is kept within the
// model's own.
func TestAStoredWindowEndsWithItsHeader(t *testing.T) {
	up := newEcho(t)
	set := map[string]any{"sessions.store": "sqlite:" + filepath.Join(t.TempDir(), "s.db")}
	p := stand(t, up.URL, set)
	a := &agent{form: long("s"), base: p.url, items: []rawItem{messagesForm{}.user("x")}}
	a.ask(t)
	p.end()
	p = stand(t, up.URL, set)
	up.take()
	a.form, a.base = messagesForm{"s"}, p.url
	a.items = append(a.items, raw(`{"role":"assistant","content":"Yes."}`), a.form.user(strings.Repeat("word ", 250_000)))
	a.ask(t)
	if got := up.take(); len(got) == 1 && got[0] == brief(a.sent[1]) && p.proxy.Totals().Failed == 0 {
		t.Errorf("%q went out: %+v", got, p.proxy.Totals())
	}
}

// behind is a store that fails once when what a turn has learned is written.
type behind struct {
	store.Store
	next atomic.Bool
}

func (b *behind) Append(ctx context.Context, key store.Key, at store.Position, c store.Change) (store.Head, error) {
	if c.Records[len(c.Records)-1].Kind == store.State && b.next.Swap(false) {
		return store.Head{}, &store.Fault{Cause: store.Full, Store: "test", Err: context.DeadlineExceeded}
	}
	return b.Store.Append(ctx, key, at, c)
}

// A refusal of what was sent when a turn had failed teaches the count, too: the client's first retry fits.
func TestARefusalBehindAFailedTurnTeachesTheCount(t *testing.T) {
	const limit = 9000
	script := []modelapi.Turn{{modelapi.Read("a")}, {modelapi.Read("b")}, {modelapi.Read("c")}, {modelapi.Read("d")}}
	up := provider(t, modelapi.Options{Script: script, ContextLimit: limit})
	full := &behind{Store: store.NewMemory()}
	p := stand(t, up.URL, map[string]any{"model.contextLimit": limit}, func(o *proxy.Options) {
		h, err := window.Open(window.Options{Config: o.Host.Config(), Logger: hclog.NewNullLogger(), Store: full})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		o.Host = h
	})
	a := &agent{form: messagesForm{"s"}, base: p.url, result: func(turn int, c call) string {
		if turn == 2 { // this provider counts bytes
			full.next.Store(true)
			return strings.Repeat("internationalization of responsibilities\n", 950)
		}
		return "nothing"
	}}
	if status := a.run(t, "Fix it."); status != http.StatusBadRequest || p.proxy.Totals().Failed != 1 {
		t.Fatalf("%d, not refused; %+v", status, p.proxy.Totals())
	}
	if status, answer := a.ask(t); status != http.StatusOK {
		t.Errorf("the retry: %d %s", status, answer)
	}
}
