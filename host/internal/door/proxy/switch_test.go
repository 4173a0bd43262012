package proxy_test

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// switching is a client whose requests have other words from one request on, up to another one.
type switching struct {
	form
	words    *strings.Replacer
	from, to int
	asked    *int
}

func (f switching) body(items []rawItem) []byte {
	body := f.form.body(items)
	if *f.asked++; *f.asked > f.from && *f.asked <= f.to {
		return []byte(f.words.Replace(string(body)))
	}
	return body
}

func (f switching) path() string {
	if *f.asked > f.from && *f.asked <= f.to {
		return f.words.Replace(f.form.path())
	}
	return f.form.path()
}

// Agents load tools from servers that come and go, and let people change the model, in the middle of a conversation. It
// stays one conversation, its edits are kept, the provider's cache breaks where it would anyway, and the money is right.
func TestAnotherToolListOrModelKeepsTheConversation(t *testing.T) {
	catalog, err := pricing.Load("")
	if err != nil {
		t.Fatal(err)
	}
	tool := func(schemaIn string) []string {
		return []string{`"tools":[`, `"tools":[{"name":"new","` + schemaIn + `":` + schema + `},`}
	}
	for name, c := range map[string]struct {
		form  form
		list  string
		words []string
		to    int
		full  bool // not in a short run, which has each form once
	}{
		"tools that come and go": {messagesForm{"s"}, "", tool("input_schema"), 30, false},
		"messages, tools":        {messagesForm{"s"}, "anthropic-sonnet", tool("input_schema"), 99, false},
		"chat, tools": {chatForm{}, "openai-gpt-5", []string{`"tools":[`, `"tools":[{"type":"function","function":` +
			`{"name":"new","parameters":` + schema + `}},`}, 99, true},
		"responses, tools": {responsesForm{"s"}, "openai-gpt-5", tool(`type":"function","parameters`), 99, false},
		"gemini, tools": {geminiForm{}, "", []string{`"functionDeclarations":[`, `"functionDeclarations":[{"name":"new",` +
			`"parametersJsonSchema":` + schema + `},`}, 99, true},
		"messages, model":  {messagesForm{"s"}, "anthropic-sonnet", []string{"claude-sonnet-4-5", "claude-sonnet-4-6"}, 99, true},
		"chat, model":      {chatForm{}, "openai-gpt-5", []string{`"gpt-5"`, `"gpt-5.1"`}, 99, false},
		"responses, model": {responsesForm{"s"}, "openai-gpt-5", []string{`"gpt-5"`, `"gpt-5.1"`}, 99, true},
		"gemini, model":    {geminiForm{}, "", []string{"gemini-test", "gemini-2.5-pro"}, 99, false},
	} {
		if c.full && testing.Short() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			long := strings.NewReplacer(`"claude-test"`, `"claude-sonnet-4-5"`, `"model":"test"`, `"model":"gpt-5"`,
				"You are a test.", strings.Repeat("You are a test. ", 800))
			once := func(dry bool) (bill float64, misses int, totals proxy.Totals) {
				up := provider(t, modelapi.Options{Script: work(12)})
				p := stand(t, up.URL, map[string]any{"model.contextLimit": 10_000,
					"compression.preserveThreshold": 0.2}, func(o *proxy.Options) { o.DryRun = dry })
				a := &agent{form: switching{editedForm{c.form, long}, strings.NewReplacer(c.words...), 15, c.to, new(int)},
					base: p.url, result: files}
				if status := a.run(t, "Fix it."); status != http.StatusOK || len(up.Refused()) > 0 {
					t.Fatal(status, up.Refused())
				}
				list, err := catalog.Named(c.list)
				if c.list == "" {
					list, err = &pricing.List{}, nil
				}
				if err != nil {
					t.Fatal(err)
				}
				left := 0
				for _, r := range up.Models() {
					bill += (float64(r.Tokens-r.Cached-r.Written)*list.Input + float64(r.Cached)*list.Read() +
						float64(r.Written)*list.Write()) / 1e6
					if r.Cached < left {
						misses++
					}
					if left = r.Cached + r.Written; r.Written == 0 {
						left = r.Tokens
					}
				}
				return bill, misses, p.proxy.Totals()
			}
			without, missed, _ := once(true)
			with, misses, totals := once(false)
			t.Logf("%d requests; %d misses without, %d with, %d rewrites; $%.4f said, $%.4f is", totals.Requests, missed,
				misses, totals.Rewrites, totals.Saved, without-with)
			if totals.Rewrites < 2 || totals.Failed > 0 || totals.Edited != totals.Requests {
				t.Errorf("%+v", totals)
			}
			if misses > missed+totals.Rewrites {
				t.Errorf("%d misses, %d without, %d rewrites", misses, missed, totals.Rewrites)
			}
			if said := totals.Saved; c.list != "" && math.Abs(said/(without-with)-1) > 0.05 {
				t.Errorf("$%.4f is said to be saved, and $%.4f is", said, without-with)
			}
		})
	}
}

// longer is a client that asks for longer answers, and for a longer window, from its fourth request on.
type longer struct {
	messagesForm
	asked *int
}

func (l longer) body(items []rawItem) []byte {
	body := l.messagesForm.body(items)
	if *l.asked++; *l.asked > 3 {
		body = []byte(strings.Replace(string(body), `"max_tokens":100`, `"max_tokens":5000`, 1))
	}
	return body
}

func (l longer) header() http.Header {
	h := l.messagesForm.header()
	if *l.asked > 3 {
		h.Set("Anthropic-Beta", "context-1m-2025-08-07")
	}
	return h
}

// The room that a client asks for its answers, and the window that it asks for, count from the request on that asks.
func TestAClientAsksForMoreRoom(t *testing.T) {
	t.Run("answers", func(t *testing.T) {
		const limit = 12_000
		up := provider(t, modelapi.Options{Script: work(12)})
		p := stand(t, up.URL, map[string]any{"model.contextLimit": limit})
		a := &agent{form: longer{messagesForm{"s"}, new(int)}, base: p.url, result: files}
		if status := a.run(t, "Fix it."); status != http.StatusOK {
			t.Fatal(status)
		}
		for i, r := range up.Models() {
			if i >= 3 && r.Tokens+5000 > limit {
				t.Errorf("request %d has %d tokens, and asks for 5000", i, r.Tokens)
			}
		}
	})
	t.Run("window", func(t *testing.T) {
		up := newEcho(t)
		p := stand(t, up.URL, nil)
		a := &agent{form: longer{messagesForm{"s"}, new(int)}, base: p.url}
		a.items = append(a.items, a.form.user("x"))
		for range 3 {
			a.ask(t)
		}
		up.take()
		a.items = append(a.items, raw(`{"role":"assistant","content":"Yes."}`), a.form.user(strings.Repeat("word ", 250_000)))
		a.ask(t)
		if got := up.take(); len(got) != 1 || got[0] != brief(a.sent[3]) || p.proxy.Totals().Failed > 0 {
			t.Errorf("%q went out of %q; %+v", got, brief(a.sent[3]), p.proxy.Totals())
		}
	})
}
