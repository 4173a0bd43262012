package proxy_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// rule is what a provider demands, and a client that it concerns. A new rule is a row.
type rule struct {
	form     form
	provider modelapi.Options // but for its script
	// between is what the client does between two prompts; nil for nothing.
	between func(t *testing.T, a *agent)
	drops   bool // the provider leaves out thinking that does not fit
	taught  int  // refusals from which alone a process can know the rule
	list    string
}

// strategies are all, with what calls the rewrites of the continuous ones.
var strategies = []string{"distill", "high-density", "top-down-truncation", "middle-out", "one-shot"}

// asked is a client whose requests have other words, and headers.
type asked struct {
	form
	beta  string
	words *strings.Replacer
}

func (f asked) header() http.Header {
	h := f.form.header()
	h.Set("Anthropic-Beta", f.beta)
	return h
}
func (f asked) body(items []rawItem) []byte {
	return []byte(f.words.Replace(string(f.form.body(items))))
}

// instructed is a client that puts instructions behind results, and settings anywhere.
type instructed struct{ form }

func (f instructed) results(calls []call, texts []string) []rawItem {
	n := len(calls[0].id)
	switch n = int(calls[0].id[n-1]-'0') % 4; n {
	case 0:
		return append(f.form.results(calls, texts), raw(`{"role":"system","content":"Be brief."}`))
	case 1:
		return append(f.form.results(calls, texts), raw(`{"role":"system","content":[],"output_config":{"effort":"low"}}`))
	case 2:
		return append(f.form.results(calls, texts), raw(`{"role":"system","content":"Hurry.","clear_at":"next_user_message"}`))
	}
	return f.form.results(calls, texts)
}

// body has the marks where it had them before: behind the last item that has a place for one.
func (f instructed) body(items []rawItem) []byte {
	last := len(items)
	for bytes.Contains(items[last-1], []byte(`"role":"system"`)) {
		last--
	}
	head, tail, _ := bytes.Cut(f.form.body(items[:last]), []byte(`],"system":`))
	return slices.Concat(head, []byte(strings.TrimSuffix(","+joined(items[last:]), ",")), []byte(`],"system":`), tail)
}

// finding is a client with a tool that makes another one known. What was found must stay until it is found again: then a
// request changes although no strategy has changed anything.
type finding struct{ form }

func (f finding) body(items []rawItem) []byte {
	return bytes.Replace(f.form.body(items), []byte(`"tools":[`), []byte(`"tools":[{"name":"tool_search","input_schema":{}},`), 1)
}
func (f finding) results(calls []call, texts []string) []rawItem {
	if calls[0].name == "tool_search" {
		return []rawItem{raw(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%s,"content":[{"type":`+
			`"tool_reference","tool_name":"ship"}]}]}`, quoted(calls[0].id))}
	}
	return f.form.results(calls, texts)
}

// rules are those that the stand-in of a provider judges by.
func rules() map[string]rule {
	const sections = "mid-conversation-system-clear-at-2026-08-21,mid-conversation-output-config-2026-07-01"
	const adaptive, drops = `{"type":"adaptive"}`, `{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`
	newest, unknown := thinkingForm("claude-opus-5-5"), thinkingForm("claude-test")
	within := editedForm{markedForm{messagesForm{"s1"}}, newestModel}
	mixed := func(n int) []string { return [][]string{{"thinking"}, {"thinking", "redacted_thinking"}, {}}[n%3] }
	summarized := func(t *testing.T, a *agent) {
		f, beta := a.form, "compact-2026-09-04"
		a.form = asked{f, beta, strings.NewReplacer(`"max_tokens":100`, `"max_tokens":100,"compaction":{"type":"summarize"}`)}
		status, answer := a.ask(t)
		if status != http.StatusOK {
			t.Fatalf("a summary on demand: %d %s", status, answer)
		}
		a.items, _ = f.read(answer)
		a.form = asked{f, beta, strings.NewReplacer()}
	}
	return map[string]rule{
		"thinking before calls":   {form: messagesForm{"s1"}},
		"bound thinking":          {form: newest, provider: modelapi.Options{Thinks: mixed}},
		"bound, unknown model":    {form: unknown, provider: modelapi.Options{Binds: true}, taught: 1},
		"bound, the API drops":    {form: asked{newest, "thinking-binding-controls-2026-08-01", strings.NewReplacer(adaptive, drops)}, drops: true},
		"instructions":            {form: asked{instructed{newest}, sections, strings.NewReplacer()}},
		"a mark within results":   {form: within, provider: modelapi.Options{Thinks: mixed}},
		"a tool is found again":   {form: finding{newest}},
		"a summary on demand":     {form: newest, between: summarized},
		"roles alternate":         {form: chatForm{}, provider: modelapi.Options{Alternates: true}, list: "openai-gpt-5"},
		"reasoning with its item": {form: responsesForm{"s1"}, list: "openai-gpt-5"},
		"signatures of calls":     {form: geminiForm{}, list: "openai-gpt-5"},
	}
}

// newestModel makes the client of the tests one of a model that binds its thinking.
var newestModel = strings.NewReplacer(`"claude-test"`, `"claude-opus-5-5"`, `{"type":"enabled","budget_tokens":50}`, `{"type":"adaptive"}`)

// Under every rule, every strategy makes no request that is refused, from a conversation that is not refused as its
// client sends it: over rewrites, in a proxy that takes over from another, and in a fork. What is said to be saved, in
// money and in tokens, is what the provider's bill says.
func TestEveryStrategyUnderEveryRule(t *testing.T) {
	race.Skip(t)
	table := newTally(t)
	all := rules()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		r := all[name]
		for j, strategy := range strategies {
			if testing.Short() && (i+j+1)%len(strategies) != 0 {
				continue
			}
			t.Run(name+"/"+strategy, func(t *testing.T) {
				t.Parallel()
				got := underRule(t, r, strategy)
				table.add(strategy, name, got)
				t.Log(got)
				if got.refused > 2*r.taught || got.failed > 0 || got.edited == 0 || (got.dropped > 0) != r.drops {
					t.Errorf("%+v", got)
				}
				if math.Abs(got.saved-got.billed) > 0.08*got.bill || math.Abs(got.claimed-got.left) > 0.08 {
					t.Errorf("what is said is not what the bill says: %v", got)
				}
			})
		}
	}
}

// course is how a conversation went. saved is what is said to be saved, and billed the difference of two bills, in USD;
// claimed and left are the shares of tokens that are said not to be sent, and were not.
type course struct {
	sent, edited, refused, failed, dropped int
	saved, billed, bill, claimed, left     float64
}

func (g course) String() string {
	return fmt.Sprintf("%d sent, %d edited, %d refused, %d failed; $%.4f said to be saved, the bills differ by $%.4f of $%.4f; %.1f %% said, %.1f %% not sent",
		g.sent, g.edited, g.refused, g.failed, g.saved, g.billed, g.bill, 100*g.claimed, 100*g.left)
}

// writing adds a model that writes summaries to settings.
func writing(t *testing.T, set map[string]any) map[string]any {
	up := provider(t, modelapi.Options{Reply: modelapi.Always(modelapi.Reply{
		Text: "<state_snapshot><overall_goal>Fix it.</overall_goal></state_snapshot>"})})
	set["profile"], set["profiles.w.provider.kind"] = "w", "anthropic"
	set["profiles.w.provider.model"], set["profiles.w.provider.baseURL"] = "writer", up.URL
	return set
}

func underRule(t *testing.T, r rule, strategy string) (got course) {
	catalog, err := pricing.Load("")
	if err != nil {
		t.Fatal(err)
	}
	name := r.list
	if name == "" {
		name = "anthropic-opus-5.5"
	}
	list, err := catalog.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	o := r.provider
	o.Script = slices.Concat([]modelapi.Turn{{modelapi.Find()}}, work(6), []modelapi.Turn{{modelapi.Find()}}, work(1),
		[]modelapi.Turn{{}}, work(4), []modelapi.Turn{{}}, work(3))
	up := provider(t, o)
	set := writing(t, map[string]any{"compression.strategy": strategy, "model.contextLimit": 10_000,
		"model.priceList": name, "compression.density.cadence": "every-turn",
		"sessions.store": "sqlite:" + filepath.Join(t.TempDir(), "s.db")})
	// As long as agents have it, and longer than the shortest prompt that a provider caches.
	form := editedForm{r.form, strings.NewReplacer("You are a test.", strings.Repeat("You are a test. ", 800))}
	var totals [2]proxy.Totals
	p := stand(t, up.URL, set)
	a := &agent{form: form, base: p.url, result: files}
	run := func(a *agent, prompt string) {
		if status := a.run(t, prompt); status != http.StatusOK {
			t.Errorf("%s %d", prompt, status)
		}
	}
	run(a, "Fix it.")
	if r.between != nil {
		r.between(t, a)
	}
	totals[0] = p.proxy.Totals()
	p.end()
	p = stand(t, up.URL, set)
	a.base = p.url
	run(a, "Go on.")
	at := a.ends[max(0, len(a.ends)-5)]
	for bytes.Contains(a.items[at-1], []byte(`"role":"system"`)) {
		at--
	}
	fork := &agent{form: a.form, base: p.url, result: files, items: a.items[:at:at]}
	run(fork, "Something else.")
	totals[1] = p.proxy.Totals()

	client := map[int][]byte{} // the client's bodies, by the numbers of the provider's requests
	sent := slices.Concat(a.sent, fork.sent)
	for _, r := range up.Requests() {
		got.dropped += r.Dropped
		if got.sent++; r.Refusal != "" {
			got.refused++
		} else if len(sent) > 0 {
			client[r.Number], sent = sent[0], sent[1:]
			if !bytes.Equal(r.Body, client[r.Number]) {
				got.edited++
			}
		}
	}
	whole, err := up.As(func(r *modelapi.Request) []byte {
		if body := client[r.Number]; body != nil {
			return body
		}
		return r.Body
	})
	if err != nil {
		t.Error("the client's own bytes: ", err)
		return got
	}
	bill := func(all []*modelapi.Request) (usd float64, tokens int) {
		for _, r := range all {
			usd += float64(r.Tokens-r.Cached-r.Written)*list.Input + float64(r.Cached)*list.Read() + float64(r.Written)*list.Write()
			tokens += r.Tokens
		}
		return usd / 1e6, tokens
	}
	without, all := bill(whole)
	with, some := bill(up.Requests())
	got.billed, got.bill, got.left = without-with, without, float64(all-some)/float64(all)
	said, of := 0, 0
	for _, total := range totals {
		got.failed, got.saved = got.failed+total.Failed, got.saved+total.Saved
		said, of = said+total.Whole-total.Sent, of+total.Whole
	}
	got.claimed = float64(said) / float64(of)
	return got
}
