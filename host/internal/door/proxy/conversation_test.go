package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// inItem is a client that has its tools in an item, as Codex has them for its newer models.
type inItem struct{ responsesForm }

func (f inItem) body(items []rawItem) []byte {
	before, rest, _ := strings.Cut(string(f.responsesForm.body(items)), `,"tools":`)
	tools, rest, _ := strings.Cut(rest, `,"prompt_cache_key"`)
	return []byte(strings.Replace(before, `"input":[`, `"input":[{"type":"additional_tools","role":"developer","tools":`+
		tools+`},`, 1) + `,"prompt_cache_key"` + rest)
}

// What makes a request one of a conversation is that the model may call tools or has said something, not a field.
func TestToolsMayStandInAnItem(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(12), ContextLimit: 12_000})
	p := stand(t, up.URL, map[string]any{"compression.strategy": "top-down-truncation", "model.contextLimit": 8000})
	a := &agent{form: inItem{responsesForm{"s1"}}, base: p.url, result: files}
	if status := a.run(t, "Fix it."); status != http.StatusOK {
		t.Errorf("the conversation ended with %d", status)
	}
	if total := p.proxy.Totals(); total.Edited != len(a.sent) || total.Failed > 0 || len(up.Refused()) > 0 {
		t.Errorf("%+v, refused: %q", total, up.Refused())
	}
}

// A loop that has no tools has a conversation too, once the model has said something.
func TestALoopWithoutToolsIsKeptSmall(t *testing.T) {
	up := provider(t, modelapi.Options{ContextLimit: 12_000})
	p := stand(t, up.URL, map[string]any{"compression.strategy": "top-down-truncation", "model.contextLimit": 8000})
	var items []string
	ask := func(text string) {
		items = append(items, string(chatForm{}.user(text)))
		status, answer, err := post(p.url+"/v1/chat/completions", chatForm{}.header(),
			[]byte(`{"model":"test","messages":[`+strings.Join(items, ",")+`]}`))
		if err != nil || status != http.StatusOK {
			t.Fatalf("%d %v: %s", status, err, answer)
		}
		said, _ := chatForm{}.read(answer)
		items = append(items, string(said[0]))
	}
	for range 20 {
		ask("What do these say? " + strings.Repeat("a retrieved passage ", 300))
	}
	if total := p.proxy.Totals(); total.Edited != 19 || total.Passed[body.Single] != 1 || total.Failed > 0 {
		t.Errorf("%+v", total)
	}
}

// A question about a conversation, without its tools, is about what is sent of it, and the conversation goes on as if
// nobody had asked.
func TestAQuestionAsideIsAboutWhatIsSent(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(8), ContextLimit: 12_000})
	p := stand(t, up.URL, map[string]any{"compression.strategy": "top-down-truncation", "model.contextLimit": 8000})
	a := &agent{form: messagesForm{"s1"}, base: p.url, result: files}
	a.run(t, "Fix it.")
	items := append(append([]json.RawMessage(nil), a.items...), a.form.user("Who speaks next?"))
	full := a.form.body(items)
	at := bytes.Index(full, []byte(`,"tools":[`))
	status, answer, err := post(p.url+a.form.path(), a.form.header(),
		append(append([]byte(nil), full[:at]...), full[bytes.LastIndex(full, []byte(`,"thinking"`)):]...))
	if err != nil || status != http.StatusOK {
		t.Fatalf("%d %v: %s", status, err, answer)
	}
	all := up.Requests()
	question := all[len(all)-1].Body
	if len(question) > len(full)/2 || !bytes.Contains(question, []byte("Who speaks next?")) {
		t.Errorf("of %d bytes %d were sent", len(full), len(question))
	}
	before := all[len(all)-2].Body
	a.run(t, "And now?")
	if after := up.Models()[len(up.Models())-1].Body; !modelapi.Continues(before, after) {
		t.Error("the conversation went on from somewhere else")
	}
}

// A client that asks for a summary gets one of all that it has, as far as the model can take it: behind a reminder, and
// in a conversation that was over the limit long ago.
func TestACompactionFits(t *testing.T) {
	for limit, whole := range map[int]bool{8000: false, 200_000: true} {
		up := provider(t, modelapi.Options{Script: work(12), ContextLimit: limit + limit/2})
		p := stand(t, up.URL, map[string]any{"compression.strategy": "top-down-truncation", "model.contextLimit": limit})
		a := &agent{form: messagesForm{"s1"}, base: p.url, result: files}
		a.run(t, "Fix it.")
		a.items = append(a.items, a.form.user("CRITICAL: Respond with TEXT ONLY"),
			a.form.user("<system-reminder>Remember the rules.</system-reminder>"))
		status, answer := a.ask(t)
		last := up.Requests()[len(up.Requests())-1]
		if status != http.StatusOK || bytes.Equal(last.Body, a.sent[len(a.sent)-1]) != whole {
			t.Errorf("limit %d: %d %s; %d bytes of %d were sent", limit, status, answer, len(last.Body),
				len(a.sent[len(a.sent)-1]))
		}
		if passed := p.proxy.Totals().Passed[body.Compaction] == 1; passed != whole {
			t.Errorf("limit %d: passed on: %v", limit, passed)
		}
	}
}

// onDemand is a client that can ask for a summary with a field of the request.
type onDemand struct {
	messagesForm
	asks bool
}

func (f onDemand) header() http.Header {
	h := f.messagesForm.header()
	h.Set("Anthropic-Beta", "compact-2026-09-04")
	return h
}
func (f onDemand) body(items []json.RawMessage) []byte {
	if !f.asks {
		return f.messagesForm.body(items)
	}
	return append(bytes.TrimSuffix(f.messagesForm.body(items), []byte("}")), `,"compaction":{"type":"summarize"}}`...)
}

// The provider's summary on demand is of all that the client has, as far as the model can take it, also after rewrites:
// the client drops what was summarised. The summary comes back as it is, whatever is rewritten behind it.
func TestACompactionOnDemandGetsAllThatFits(t *testing.T) {
	for _, tt := range []struct {
		strategy string
		limit    int
	}{{"distill", 64_000}, {"high-density", 64_000}, {"top-down-truncation", 64_000}, {"top-down-truncation", 8000}} {
		t.Run(fmt.Sprint(tt.strategy, tt.limit), func(t *testing.T) {
			t.Parallel()
			up := provider(t, modelapi.Options{Script: slices.Concat(work(12), []modelapi.Turn{{}}, work(12))})
			p := stand(t, up.URL, map[string]any{"compression.strategy": tt.strategy, "model.contextLimit": tt.limit,
				"compression.threshold": 0.3, "compression.density.cadence": "every-turn"})
			a := &agent{form: onDemand{messagesForm: messagesForm{"s1"}}, base: p.url, result: files}
			a.run(t, "Fix it.")
			a.form = onDemand{messagesForm{"s1"}, true}
			status, answer := a.ask(t)
			last, client := up.Requests()[len(up.Requests())-1], a.sent[len(a.sent)-1]
			if status != http.StatusOK || !bytes.Contains(answer, []byte(`"type":"compaction"`)) || !last.Compacts {
				t.Errorf("%d %s", status, answer)
			}
			whole := tt.limit > modelapi.Tokens(string(client))
			if total := p.proxy.Totals(); bytes.Equal(last.Body, client) != whole || total.Rewrites == 0 ||
				(total.Passed[body.Compaction] == 1) != whole {
				t.Errorf("the summariser saw %d of %d tokens; %+v", last.Tokens, modelapi.Tokens(string(client)), total)
			}
			rewrites := p.proxy.Totals().Rewrites
			a.form = onDemand{messagesForm: messagesForm{"s1"}}
			a.items, _ = a.form.read(answer)
			status = a.run(t, "Go on.")
			if refused := up.Refused(); status != http.StatusOK || len(refused) > 0 {
				t.Errorf("%d after the summary, refused: %q", status, refused)
			}
			if total := p.proxy.Totals(); total.Rewrites == rewrites || total.Failed > 0 {
				t.Errorf("no rewrite behind the summary: %+v", total)
			}
		})
	}
}
