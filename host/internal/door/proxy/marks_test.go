package proxy_test

import (
	"math"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// markedForm is a client whose mark is within the last result: that is a list of one text while it has the mark, and a
// text before and after.
type markedForm struct{ messagesForm }

var lastResult = regexp.MustCompile(`"type":"tool_result","content":("(?:[^"\\]|\\.)*"),"cache_control":(\{[^{}]*\})`)

func (f markedForm) body(items []rawItem) []byte {
	return lastResult.ReplaceAll(f.messagesForm.body(items), []byte(`"type":"tool_result","content":[{"type":"text","text":$1,`+
		`"cache_control":$2}]`))
}

// sonnet returns the prices of a model, and what makes a client ask for it with a prompt that is worth a cache.
func sonnet(t *testing.T) (*pricing.List, *strings.Replacer) {
	t.Helper()
	catalog, err := pricing.Load("")
	if err != nil {
		t.Fatal(err)
	}
	list, err := catalog.Named("anthropic-sonnet")
	if err != nil {
		t.Fatal(err)
	}
	return list, strings.NewReplacer(`"claude-test"`, `"claude-sonnet-4-5"`,
		"You are a test.", strings.Repeat("You are a test. ", 800))
}

// played lets a client talk to a provider that bills it. It returns how many requests do not begin as the one before.
func played(t *testing.T, form form, set map[string]any, script []modelapi.Turn, dry bool, prompts ...string) (changed int,
	bill float64, totals proxy.Totals) {
	list, words := sonnet(t)
	up := provider(t, modelapi.Options{Script: script})
	p := stand(t, up.URL, set, func(o *proxy.Options) { o.DryRun = dry })
	a := &agent{form: editedForm{form, words}, base: p.url, result: files}
	for i, prompt := range prompts {
		if i > 0 { // it goes back, to before a turn of the model
			a.items = a.items[:len(a.items)/2|1]
		}
		if status := a.run(t, prompt); status != http.StatusOK {
			t.Fatal(status)
		}
	}
	sent := up.Models()
	for i, r := range sent {
		bill += float64(r.Tokens-r.Cached-r.Written)*list.Input + float64(r.Cached)*list.Read() +
			float64(r.Written)*list.Write()
		if i > 0 && !modelapi.Continues(sent[i-1].Body, r.Body) {
			changed++
		}
	}
	return changed, bill / 1e6, p.proxy.Totals()
}

// A client that moves its mark within results says the same as one that moves it from result to result, and is sent the
// same; one that goes back and says something else changes the beginning. A changed beginning is a rewrite that is told,
// and what is said to be saved is the difference between two bills.
func TestAChangedBeginningIsARewrite(t *testing.T) {
	within, of := markedForm{messagesForm{"s"}}, messagesForm{"s"}
	for _, strategy := range []string{"distill", "high-density", "top-down-truncation"} {
		set := map[string]any{"compression.strategy": strategy, "model.contextLimit": 10_000,
			"compression.preserveThreshold": 0.2}
		compare := func(t *testing.T, form form, script []modelapi.Turn, prompts ...string) (changed int) {
			_, without, _ := played(t, form, set, script, true, prompts...)
			changed, with, totals := played(t, form, set, script, false, prompts...)
			t.Logf("of %d requests %d have another beginning, %d rewrites; $%.4f said to be saved, the bills differ by $%.4f",
				totals.Requests, changed, totals.Rewrites, totals.Saved, without-with)
			if changed != totals.Rewrites || math.Abs(totals.Saved-(without-with)) > 0.05*(without-with)+0.002 {
				t.Errorf("%d of %d requests have another beginning, %d rewrites are told; $%.4f is said to be saved, and $%.4f is",
					changed, totals.Requests, totals.Rewrites, totals.Saved, without-with)
			}
			return changed
		}
		t.Run("a mark within results/"+strategy, func(t *testing.T) {
			t.Parallel()
			usual, _, _ := played(t, of, set, work(10), false, "Fix it.")
			if changed := compare(t, within, work(10), "Fix it."); changed != usual {
				t.Errorf("%d have another beginning, %d where the marks are of results", changed, usual)
			}
		})
		t.Run("going back/"+strategy, func(t *testing.T) {
			t.Parallel()
			compare(t, of, append(append(work(6), modelapi.Turn{}), work(6)...), "Fix it.", "No, do it otherwise.")
		})
	}
}
