package proxy_test

import (
	"bytes"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// editedForm is a client whose requests differ in words from those of another one.
type editedForm struct {
	form
	words *strings.Replacer
}

func (f editedForm) body(items []rawItem) []byte {
	return []byte(f.words.Replace(string(f.form.body(items))))
}

// unorderedForm is a client whose requests have their settings in another order each time, as Codex's do.
type unorderedForm struct{ form }

func (f unorderedForm) body(items []rawItem) []byte {
	settings := [2]string{`{"metadata":{"turn":"a","window":"b"},`, `{"metadata":{"window":"b","turn":"a"},`}
	return bytes.Replace(f.form.body(items), []byte("{"), []byte(settings[len(items)/2%2]), 1)
}

// What is said to be saved is the difference between two bills of the provider: for a client that marks what is to be
// cached, for one that marks its system prompt alone, for one that marks nothing, and where the provider needs no
// marks, with its settings in another order each time, too.
func TestWhatIsSavedIsTheProvidersBill(t *testing.T) {
	const marker = `,"cache_control":{"type":"ephemeral"}`
	for name, c := range map[string]struct {
		form  form
		list  string
		marks int
		words []string
	}{
		"marked": {messagesForm{"s"}, "anthropic-sonnet", 2, nil},
		"an hour": {messagesForm{"s"}, "anthropic-sonnet-1h", 2, []string{marker, `,"cache_control":{"type":"ephemeral",` +
			`"ttl":"1h"}`}},
		"prefix":          {messagesForm{"s"}, "anthropic-sonnet", 1, []string{marker + "}]}]", "}]}]"}},
		"unmarked":        {messagesForm{"s"}, "anthropic-sonnet", 0, []string{marker, ""}},
		"chat":            {chatForm{}, "openai-gpt-5", 0, nil},
		"chat, unordered": {unorderedForm{chatForm{}}, "openai-gpt-5", 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			catalog, err := pricing.Load("")
			if err != nil {
				t.Fatal(err)
			}
			list, err := catalog.Named(c.list)
			if err != nil {
				t.Fatal(err)
			}
			// A long system prompt, as agents have, and longer than the shortest that a provider caches.
			words := append(c.words, `"claude-test"`, `"claude-sonnet-4-5"`, `"model":"test"`, `"model":"gpt-5"`, "You are a test.", strings.Repeat("You are a test. ", 800))
			once := func(dry bool) (tokens int, bill float64, totals proxy.Totals) {
				up := provider(t, modelapi.Options{Script: work(12)})
				p := stand(t, up.URL, map[string]any{"model.contextLimit": 10_000,
					"compression.preserveThreshold": 0.2}, func(o *proxy.Options) { o.DryRun = dry })
				a := &agent{form: editedForm{c.form, strings.NewReplacer(words...)}, base: p.url, result: files}
				if status := a.run(t, "Fix it."); status != http.StatusOK {
					t.Fatal(status)
				}
				if marks := bytes.Count(a.sent[0], []byte(`"cache_control"`)); marks != c.marks {
					t.Errorf("%d marks", marks)
				}
				for _, r := range up.Models() {
					tokens += r.Tokens
					bill += float64(r.Tokens-r.Cached-r.Written)*list.Input + float64(r.Cached)*list.Read() +
						float64(r.Written)*list.Write()
				}
				return tokens, bill / 1e6, p.proxy.Totals()
			}
			whole, without, _ := once(true)
			sent, with, totals := once(false)
			t.Logf("of %d tokens %d sent, %d rewrites; $%.4f said to be saved, the bills differ by $%.4f", whole, sent,
				totals.Rewrites, totals.Saved, without-with)
			// The host counts with a tokenizer, this provider bytes: what is said is in the provider's.
			if totals.Rewrites < 2 || math.Abs(totals.Saved/(without-with)-1) > 0.05 {
				t.Errorf("%d rewrites; $%.4f is said to be saved, and $%.4f is", totals.Rewrites, totals.Saved, without-with)
			}
		})
	}
}
