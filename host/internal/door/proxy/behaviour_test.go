package proxy_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// As long as nothing is rewritten, the prompt cache serves as much of each prompt as without the proxy. With a price
// list, rewrites come where they pay: the conversation costs less, cache included.
func TestThePromptCacheStaysWarm(t *testing.T) {
	type bill struct{ rate, cost float64 }
	eachForm(t, func(t *testing.T, newForm func() form) {
		pay := func(settings map[string]any) bill {
			up := provider(t, modelapi.Options{Script: work(12)})
			base := up.URL
			if settings != nil {
				base = stand(t, up.URL, settings).url
			}
			a := &agent{form: newForm(), base: base, result: files}
			if status := a.run(t, "Fix it."); status != http.StatusOK {
				t.Fatal(status)
			}
			cached, tokens := 0, 0
			for _, r := range up.Models() {
				cached, tokens = cached+r.Cached, tokens+r.Tokens
			}
			// A cached token costs a tenth, one that is written to the cache a quarter more.
			return bill{float64(cached) / float64(tokens), float64(cached)*0.1 + float64(tokens-cached)*1.25}
		}
		direct := pay(nil)
		if idle := pay(map[string]any{"compression.density.readWritePruning": false}); idle != direct {
			t.Errorf("without rewrites %+v, direct %+v", idle, direct)
		}
		// The conversation is short: it would end before there is a tenth of the window to remove.
		if priced := pay(map[string]any{"model.priceList": "anthropic-sonnet",
			"compression.density.minSavings": 300}); priced.cost >= direct.cost {
			t.Errorf("with rewrites %+v, direct %+v", priced, direct)
		}
	})
}

// modelForm is a client that asks for a model, and for another from some turn on.
type modelForm struct {
	messagesForm
	models []string
	turns  *int
}

func (m modelForm) body(items []rawItem) []byte {
	*m.turns++
	model := m.models[min(*m.turns/10, len(m.models)-1)]
	return bytes.Replace(m.messagesForm.body(items), []byte("claude-test"), []byte(model), 1)
}

// The model is known from the request. Where its prices are known too, nothing is pruned at a loss, without a setting:
// here a short file that was read long ago becomes stale. It holds for a model that the client changes to as well.
func TestWithAKnownModelPruningPays(t *testing.T) {
	script := []modelapi.Turn{{modelapi.Read("short.go")}}
	for i := range 12 {
		script = append(script, modelapi.Turn{modelapi.Read(fmt.Sprintf("long%d.go", i))})
	}
	script = append(script, modelapi.Turn{modelapi.Edit("short.go", "a", "b")}, modelapi.Turn{modelapi.Run("go test")})
	read := func(turn int, c call) string {
		if strings.Contains(c.args, "short.go") {
			return "updated short.go, a package with a few words"
		}
		return files(turn, c)
	}
	for _, models := range [][]string{{"claude-sonnet-4-5"}, {"no-such-model", "claude-opus-4-5"}} {
		saved := map[string]float64{}
		for _, cadence := range []string{"", "every-turn"} {
			up := provider(t, modelapi.Options{Script: script})
			p := stand(t, up.URL, map[string]any{"compression.density.cadence": cadence})
			a := &agent{form: modelForm{messagesForm{"s"}, models, new(int)}, base: p.url, result: read}
			if status := a.run(t, "Fix it."); status != http.StatusOK {
				t.Fatal(status)
			}
			saved[cadence] = p.proxy.Totals().Saved
		}
		if saved[""] < 0 || saved["every-turn"] >= 0 {
			t.Errorf("%q: saved, in US dollars, by cadence: %v", models, saved)
		}
	}
}

// A client repeats a request byte for byte after an error. It gets the same request sent.
func TestARetryIsSentAlike(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm func() form) {
		up := provider(t, modelapi.Options{Script: work(6), Fault: func(n int) modelapi.Reply {
			if n%4 == 0 {
				return modelapi.Reply{Status: 529}
			}
			return modelapi.Reply{}
		}})
		p := stand(t, up.URL, map[string]any{"compression.density.cadence": "every-turn"})
		a := &agent{form: newForm(), base: p.url, result: files}
		a.items = append(a.items, a.form.user("Fix it."))
		for {
			status, answer := a.ask(t)
			if status == 529 {
				if status, answer = a.ask(t); status != http.StatusOK {
					t.Fatal(status)
				}
			}
			items, calls := a.form.read(answer)
			if a.items = append(a.items, items...); len(calls) == 0 {
				break
			}
			var texts []string
			for _, c := range calls {
				texts = append(texts, files(len(a.items), c))
			}
			a.items = append(a.items, a.form.results(calls, texts)...)
		}
		all := up.Requests()
		retries := 0
		for i, r := range all {
			if r.Status == 529 {
				if retries++; !bytes.Equal(r.Body, all[i+1].Body) {
					t.Errorf("request %d was sent differently again", i)
				}
			}
		}
		if retries == 0 {
			t.Error("nothing failed")
		}
	})
}

// What is forwarded as it came, and the reason that is counted.
func TestWhatIsNeverChanged(t *testing.T) {
	const tools = `"tools":[{"name":"read_file","input_schema":{"type":"object"}}]`
	call := `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read_file","input":{}}]}`
	tests := map[string]struct {
		path, body string
		want       body.Reason
		header     http.Header
	}{
		"a title": {"/v1/messages", `{"max_tokens":1,"messages":[{"role":"user","content":"x"}],"tools":[]}`,
			body.Single, nil},
		"a compaction": {"/v1/messages", `{"max_tokens":1,"messages":[{"role":"user","content":"CRITICAL: ` +
			`Respond with TEXT ONLY"}],` +
			tools + `}`, body.Compaction, nil},
		"a compaction trigger": {"/v1/responses", `{"input":[{"role":"user","content":"x"},` +
			`{"type":"compaction_trigger"}],` +
			`"tools":[{"type":"function","name":"x"}]}`, body.Compaction, nil},
		"a compaction by header": {"/v1/responses", `{"input":[{"role":"user","content":"x"}],` +
			`"tools":[{"type":"function","name":"x"}]}`,
			body.Compaction, http.Header{"X-Codex-Turn-Metadata": {`{"request_kind":"compaction"}`}}},
		"a compaction on demand": {"/v1/messages", `{"max_tokens":1,"messages":[{"role":"user","content":"x"}],` +
			`"compaction":{"type":"summarize"}}`, body.Compaction, nil},
		"a stored conversation": {"/v1/responses", `{"previous_response_id":"r","input":[{"role":"user",` +
			`"content":"x"}],` +
			`"tools":[{"type":"function","name":"x"}]}`, body.Continued, nil},
		"a call that waits": {"/v1/messages", `{"max_tokens":1,"messages":[{"role":"user","content":"x"},` + call + `],` + tools + `}`,
			body.OpenTools, nil},
		"a result of nothing": {"/v1/messages", `{"max_tokens":1,"messages":[{"role":"user",` +
			`"content":[{"type":"tool_result",` +
			`"tool_use_id":"t1","content":"x"}]}],` + tools + `}`, body.Unpaired, nil},
		"an unknown role": {"/v1/messages", `{"max_tokens":1,"messages":[{"role":"judge","content":"x"}],` + tools + `}`,
			body.Unknown, nil},
		"a field twice": {"/v1/messages", `{"max_tokens":1,"messages":[{"role":"user","role":"user",` +
			`"content":"x"}],` + tools + `}`,
			body.Unknown, nil},
		"no JSON": {"/v1/chat/completions", `{"messages":[`, body.Unknown, nil},
		"a body in gzip": {"/v1/messages", "\x1f\x8b\x08", "encoded-body",
			http.Header{"Content-Encoding": {"gzip"}}},
	}
	up := provider(t, modelapi.Options{})
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := stand(t, up.URL, nil)
			header := http.Header{}
			if tt.header != nil {
				header = tt.header
			}
			if _, _, err := post(p.url+tt.path, header, []byte(tt.body)); err != nil {
				t.Fatal(err)
			}
			all := up.Requests()
			if got := all[len(all)-1].Body; string(got) != tt.body {
				t.Errorf("sent %q", got)
			}
			if got := p.proxy.Totals().Passed; got[tt.want] != 1 {
				t.Errorf("passed for %v, want %q", got, tt.want)
			}
		})
	}
}

// A strategy that does not work costs no turn: the agent finishes with its own requests, and people see why.
func TestABrokenStrategy(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thresh-strategy-broken"), []byte("#!/bin/sh\nexit 1\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	settings := map[string]any{"compression.strategy": "broken", "plugins.dirs": []string{dir}}
	eachForm(t, func(t *testing.T, newForm func() form) {
		up := provider(t, modelapi.Options{Script: work(1)})
		var shown *watch.Recorder
		p := stand(t, up.URL, settings, func(o *proxy.Options) { shown = watch.New(o.Host, "x", nil); o.Watch = shown })
		a := &agent{form: newForm(), base: p.url, result: files}
		if status := a.run(t, "Fix it."); status != http.StatusOK {
			t.Error(status)
		}
		// People see why, and no rewrite: the same is sent as before.
		if got := seen(t, shown, "/sessions"); !strings.Contains(got, `"rewrites":0`) ||
			!strings.Contains(got, `"error":"strategy \"broken\"`) {
			t.Error(got)
		}
		for i, r := range up.Models() {
			if !bytes.Equal(r.Body, a.sent[i]) {
				t.Errorf("request %d is not the client's", i)
			}
		}
		if got := p.proxy.Totals().Failed; got != 1 { // after it, turns go on without the strategy
			t.Errorf("%d failures were counted, of %d", got, len(a.sent))
		}
	})
}

// The first refusal of a request as too long teaches the limit. The client sees it, and its next request fits.
func TestALimitIsLearned(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm func() form) {
		up := provider(t, modelapi.Options{Script: work(12), ContextLimit: 9000})
		p := stand(t, up.URL, nil) // 200,000 tokens, as far as the host knows
		a := &agent{form: newForm(), base: p.url, result: files}
		if status := a.run(t, "Fix it."); status != http.StatusBadRequest {
			t.Fatalf("%d, the refusal is not passed on", status)
		}
		if status := a.run(t, "Go on."); status != http.StatusOK {
			t.Errorf("%d after the limit was learned", status)
		}
		if refused := up.Refused(); len(refused) > 0 || p.proxy.Totals().Learned != 1 {
			t.Errorf("refused %q; %+v", refused, p.proxy.Totals())
		}
	})
}

// A refusal of a request that the host had counted as short enough teaches how the provider counts: the client's retry
// fits.
func TestARefusalTeachesTheCount(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm func() form) {
		const limit = 9000
		script := []modelapi.Turn{{modelapi.Read("a")}, {modelapi.Read("b")}, {modelapi.Read("c")}, {modelapi.Read("d")}}
		up := provider(t, modelapi.Options{Script: script, ContextLimit: limit})
		p := stand(t, up.URL, map[string]any{"model.contextLimit": limit})
		a := &agent{form: newForm(), base: p.url, result: func(turn int, c call) string {
			if turn == 2 { // this provider counts bytes
				return strings.Repeat("internationalization of responsibilities\n", 950)
			}
			return "nothing"
		}}
		if status := a.run(t, "Fix it."); status != http.StatusBadRequest {
			t.Fatalf("%d, not refused", status)
		}
		if status, answer := a.ask(t); status != http.StatusOK {
			t.Errorf("the retry: %d %s", status, answer)
		}
		if got := p.proxy.Totals(); got.Learned != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// A question for the number of tokens is about what is sent, and changes nothing.
func TestTokensOfWhatIsSentAreCounted(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(4)})
	p := stand(t, up.URL, map[string]any{"compression.density.cadence": "every-turn"})
	a := &agent{form: messagesForm{"s"}, base: p.url, result: files}
	a.run(t, "Fix it.")
	last := up.Requests()[len(up.Requests())-1]
	if _, _, err := post(p.url+"/v1/messages/count_tokens", a.form.header(), a.sent[len(a.sent)-1]); err != nil {
		t.Fatal(err)
	}
	counted := up.Requests()[len(up.Requests())-1]
	if counted.Path != "/v1/messages/count_tokens" || !bytes.Equal(counted.Body, last.Body) {
		t.Errorf("%s was asked about %d bytes, not %d", counted.Path, len(counted.Body), len(last.Body))
	}
}

// A conversation that goes on from an earlier point is a branch of its own, and the first goes on where it was.
func TestAForkIsABranch(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm func() form) {
		up := provider(t, modelapi.Options{Script: work(8)})
		p := stand(t, up.URL, map[string]any{"compression.density.cadence": "every-turn"})
		a := &agent{form: newForm(), base: p.url, result: files}
		if status := a.run(t, "Fix it."); status != http.StatusOK {
			t.Fatal(status)
		}
		fork := &agent{form: a.form, base: p.url, result: files}
		fork.items = append(fork.items, a.items[:1]...)
		for _, next := range []*agent{fork, a, fork, a} {
			if status := next.run(t, "Now something else."); status != http.StatusOK {
				t.Error(status)
			}
		}
		if refused := up.Refused(); len(refused) > 0 || p.proxy.Totals().Failed > 0 {
			t.Errorf("refused %q; %+v", refused, p.proxy.Totals())
		}
	})
}

// inBody is a client that names its conversation in the body alone, as SDKs do.
type inBody struct{ messagesForm }

func (inBody) header() http.Header {
	return http.Header{"Anthropic-Version": {"2023-06-01"}, "X-Api-Key": {"k"}}
}
func (f inBody) body(items []rawItem) []byte {
	return bytes.Replace(f.messagesForm.body(items), []byte(`"max_tokens":100,`), []byte(`"max_tokens":100,"metadata":`+
		`{"user_id":"{\"session_id\":\"`+f.session+`\"}"},`), 1)
}

// It is found by what it is about, where the conversation's name has no place in the question.
func TestAQuestionForTokensNeedsNoName(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(4)})
	p := stand(t, up.URL, map[string]any{"compression.density.cadence": "every-turn"})
	a := &agent{form: inBody{messagesForm{"s"}}, base: p.url, result: files}
	a.run(t, "Fix it.")
	sent := up.Requests()[len(up.Requests())-1].Body
	question := messagesForm{}.body(a.items[:len(a.items)-1]) // without the name and the last answer
	if _, _, err := post(p.url+"/v1/messages/count_tokens", a.form.header(), question); err != nil {
		t.Fatal(err)
	}
	if got := up.Requests()[len(up.Requests())-1].Body; len(got) > len(sent) || len(got) >= len(question) {
		t.Errorf("asked about %d bytes; %d were sent, of %d", len(got), len(sent), len(question))
	}
}

// The provider's own summary is of the whole history, however long that is.
func TestACompactionOfTheProviderGetsEverything(t *testing.T) {
	up := newEcho(t)
	p := stand(t, up.URL, map[string]any{"compression.strategy": "top-down-truncation", "model.contextLimit": 4000})
	f := responsesForm{"s"}
	a := &agent{form: f, base: p.url, items: []rawItem{f.user("Fix it.")}}
	for i := range 20 {
		a.items = append(a.items, raw(`{"type":"function_call","call_id":"c%d","name":"exec_command","arguments":"{}"}`, i))
		a.items = append(a.items, f.results([]call{{id: fmt.Sprint("c", i)}}, []string{strings.Repeat("all is well\n", 200)})...)
	}
	a.ask(t)
	a.items = append(a.items, raw(`{"type":"compaction_trigger"}`))
	a.ask(t)
	got := up.take()
	if got[0] == brief(a.sent[0]) || got[1] != brief(a.sent[1]) || p.proxy.Totals().Passed[body.Compaction] != 1 {
		t.Errorf("%.10q, %.10q were sent, of %d and %d bytes", got[0], got[1], len(a.sent[0]), len(a.sent[1]))
	}
}
