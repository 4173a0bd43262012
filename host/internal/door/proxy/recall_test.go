package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// The ids in marks have a form of their own: no client's ids look like them.
var marked = regexp.MustCompile(`\[thresh_recall: ([0-9]{15})\]`)

// recalling is a client whose agent has the tool, and that names its conversation.
type recalling struct {
	form
	session string
}

func (f recalling) header() http.Header {
	h := f.form.header()
	if f.session != "" {
		h.Set("X-Thresh-Session", f.session)
	}
	return h
}

// body has the tool behind the others.
func (f recalling) body(items []json.RawMessage) []byte {
	b := f.form.body(items)
	for _, tool := range []string{`{"name":"edit","input_schema":` + edit + `}`, `{"name":"edit","parametersJsonSchema":` + edit + `}`,
		`{"type":"function","name":"edit","parameters":` + edit + `}`,
		`{"type":"function","function":{"name":"edit","parameters":` + edit + `}}`} {
		if at := bytes.LastIndex(b, []byte(tool)); at >= 0 {
			ours := strings.NewReplacer(`"edit"`, `"mcp__thresh__thresh_recall"`, edit, schema).Replace(tool)
			return slices.Concat(b[:at+len(tool)], []byte(","+ours), b[at+len(tool):])
		}
	}
	panic("no tool is found in the body")
}

// token is what the tool is asked with.
const token = "local"

// recalls gives a proxy the option, with the key of its host's store.
func recalls(t *testing.T, named bool) func(*proxy.Options) {
	return func(o *proxy.Options) {
		o.Recall = &proxy.Recall{Named: named}
		o.Guard, o.Open = access.NewGuard(store.NewMemory(), token, hclog.NewNullLogger()), true
	}
}

// recallSettings make results go.
func recallSettings(t *testing.T) map[string]any {
	return map[string]any{"compression.density.cadence": "every-turn", "model.contextLimit": 9000,
		"sessions.store": "sqlite:" + filepath.Join(t.TempDir(), "s.db")}
}

// marks are the ids that stood in the requests that a provider got.
func marks(sent []*modelapi.Request) []string {
	ids := map[string]bool{}
	for _, r := range sent {
		for _, m := range marked.FindAllSubmatch(r.Body, -1) {
			ids[string(m[1])] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// Where a result is removed, an id stands by which the agent gets back what its tool said. What was sent stays as it
// was, with the ids. An agent that does not have the tool is sent none, and without the option the path is the
// provider's.
func TestARemovedResultIsGivenBack(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm func() form) {
		up := provider(t, modelapi.Options{Script: work(10)})
		p := stand(t, up.URL, recallSettings(t), recalls(t, false))
		said := map[string]bool{} // what the tools said
		a := &agent{form: recalling{form: newForm()}, base: p.url, result: func(turn int, c call) string {
			text := files(turn, c)
			said[text] = true
			return text
		}}
		if status := a.run(t, "Fix it."); status != http.StatusOK {
			t.Fatal(status)
		}
		stableBetweenRewrites(t, up.Models(), p.proxy.Totals().Rewrites)
		if refused := up.Refused(); len(refused) > 0 {
			t.Errorf("refused: %q", refused)
		}
		ids, given := marks(up.Models()), map[string]bool{}
		for _, id := range ids {
			text, failed := recall(t, p.url, id, "")
			if given[text] = true; failed || !said[text] {
				t.Errorf("%s gives back %.100q", id, text)
			}
		}
		if len(ids) == 0 || len(given) != len(ids) {
			t.Errorf("%d ids give back %d results", len(ids), len(given))
		}
		for _, id := range []string{"call_3", "000000000000000", ids[0] + "0"} {
			if text, failed := recall(t, p.url, id, ""); !failed {
				t.Errorf("%s gives back %.100q", id, text)
			}
		}
		without := provider(t, modelapi.Options{Script: work(10)})
		p = stand(t, without.URL, recallSettings(t), recalls(t, false))
		a = &agent{form: newForm(), base: p.url, result: files}
		if status := a.run(t, "Fix it."); status != http.StatusOK || len(marks(without.Models())) > 0 {
			t.Errorf("%d; an agent without the tool is sent %q", status, marks(without.Models()))
		}
		off := stand(t, up.URL, recallSettings(t))
		if status, _, err := post(off.url+"/mcp", http.Header{}, nil); err != nil || status != http.StatusBadRequest {
			t.Errorf("without the option: %d, %v", status, err)
		}
	})
}

// The line in the place of calls whose results went has ids, too, each of one result.
func TestALineForCallsGivesItsResultsBack(t *testing.T) {
	t.Parallel()
	up := provider(t, modelapi.Options{Script: work(14)})
	set := recallSettings(t)
	set["compression.strategy"], set["model.contextLimit"] = "distill", 6000
	p := stand(t, up.URL, set, recalls(t, false))
	said := map[string]bool{}
	a := &agent{form: recalling{form: messagesForm{"s1"}}, base: p.url, result: func(turn int, c call) string {
		text := files(turn, c)
		said[text] = true
		return text
	}}
	if status := a.run(t, "Fix it."); status != http.StatusOK {
		t.Fatal(status)
	}
	line := regexp.MustCompile(`\[Earlier tool calls, results removed: [^"]*\] \[thresh_recall: ([0-9, ]+)\]`)
	lines := 0
	for _, r := range up.Models() {
		for _, m := range line.FindAllSubmatch(r.Body, -1) {
			lines++
			for _, id := range strings.Split(string(m[1]), ", ") {
				if text, failed := recall(t, p.url, id, ""); failed || !said[text] {
					t.Errorf("%s gives back %.100q", id, text)
				}
			}
		}
	}
	if lines == 0 {
		t.Error("no line for calls was sent")
	}
}

// Two conversations of one owner have calls with the same ids, and say the same. Each gets back what is its own, also by
// a fork, from another host of the store, and after a restart, and nothing by an id of the other. An answer does not
// tell whether another conversation has an id.
func TestRecallIsOfOneConversation(t *testing.T) {
	someForms(t, func(t *testing.T, newForm func() form) {
		settings := recallSettings(t)
		ids, agents := map[string][]string{}, map[string]*agent{}
		var up *modelapi.Server
		var p *standing
		for _, session := range []string{"a", "b"} {
			up = provider(t, modelapi.Options{Script: work(10)}) // which counts calls from the beginning
			if p != nil {
				p.end()
			}
			p = stand(t, up.URL, settings, recalls(t, true))
			a := &agent{form: recalling{newForm(), session}, base: p.url, result: func(turn int, c call) string {
				return files(turn, c) + "of " + session
			}}
			if status := a.run(t, "Fix it."); status != http.StatusOK {
				t.Fatal(status)
			}
			ids[session], agents[session] = marks(up.Models()), a
		}
		other := stand(t, up.URL, settings, recalls(t, true)) // which has neither in memory
		fork := agents["b"]
		fork.items = fork.items[:len(fork.items)-1]
		if status := fork.run(t, "Something else."); status != http.StatusOK {
			t.Fatal(status)
		}
		ids["b"] = marks(up.Models())
		for at, base := range map[string]string{"one host": p.url, "another": other.url} {
			for session, own := range ids {
				for _, id := range own {
					if text, failed := recall(t, base, id, session); failed || !strings.HasSuffix(text, "of "+session) {
						t.Errorf("%s: %s in %s: %.100q", at, id, session, text)
					}
				}
				for from, strange := range map[string]string{"b": ids["a"][0], "a": ids["b"][0], "c": own[0]} {
					text, failed := recall(t, base, strange, from)
					never, _ := recall(t, base, "000000000000000", from)
					if want := strings.ReplaceAll(never, "000000000000000", strange); !failed || text != want {
						t.Errorf("%s: %s in %s: %q, but for an id that never was %q", at, strange, from, text, want)
					}
				}
			}
		}
		if status, answer := ask(t, p.url+"/t/"+token+"/mcp", ids["a"][0], http.Header{}); status != 400 ||
			!strings.Contains(string(answer), "X-Thresh-Session is missing") {
			t.Errorf("without a conversation: %d %s", status, answer)
		}
	})
}

// Every user of a machine reaches a loopback address: without the token nothing is given back, whatever the id, and a
// conversation needs none.
func TestRecallTakesAToken(t *testing.T) {
	up := provider(t, modelapi.Options{Script: work(10)})
	p := stand(t, up.URL, recallSettings(t), recalls(t, false))
	a := &agent{form: recalling{form: messagesForm{"s1"}}, base: p.url, result: files}
	if status := a.run(t, "Fix it."); status != http.StatusOK {
		t.Fatal(status)
	}
	id := marks(up.Models())[0]
	for path, want := range map[string]int{"/mcp": 403, "/t/wrong/mcp": 403, "/t//mcp": 403, "/t/" + token + "/mcp": 200} {
		if status, answer := ask(t, p.url+path, id, http.Header{}); status != want {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	if status, answer := ask(t, p.url+"/mcp", id, http.Header{"X-Thresh-Token": {token}}); status != http.StatusOK {
		t.Errorf("with the token in a header: %d %s", status, answer)
	}
}

// A model finds by words what is too small for an id and went with its whole turn, what was said and called, and reads
// more of it by the id that stands before it. It finds nothing that is still sent, nor what it has found before.
func TestAModelFindsWhatWasRemoved(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm func() form) {
		said := map[string]bool{}
		script := slices.Concat([]modelapi.Turn{{modelapi.Run("go test ./zebra")}}, work(10), []modelapi.Turn{
			{modelapi.Search("port of zebra42")}, {modelapi.Search(`"port of zebra42 is"`)}})
		up := provider(t, modelapi.Options{Script: script})
		settings := recallSettings(t)
		settings["compression.strategy"] = "top-down-truncation"
		p := stand(t, up.URL, settings, recalls(t, false))
		a := &agent{form: recalling{form: newForm()}, base: p.url}
		a.result = func(turn int, c call) string {
			if turn == 0 {
				return "before\nport of zebra42 is 4711\nbehind\n"
			}
			if !strings.HasSuffix(c.name, "thresh_recall") {
				return files(turn, c)
			}
			text, failed := called(t, p.url, c.args, "")
			if failed {
				t.Errorf("%s: %s", c.args, text)
			}
			said[text] = true
			if !strings.Contains(text, "port of zebra42 is 4711") || strings.Count(text, "is 4711") > 1 {
				t.Errorf("%s finds %.400q", c.args, text)
			}
			for _, m := range regexp.MustCompile(`, id ([0-9]{15})\]`).FindAllStringSubmatch(text, -1) {
				if part, failed := called(t, p.url, `{"id":"`+m[1]+`","lines":"1-1"}`, ""); failed ||
					!strings.Contains(part, "lines 1-1 of ") || !strings.HasSuffix(strings.SplitN(part, "\n", 2)[0], m[0][2:]) {
					t.Errorf("of %s: %.200q", m[1], part)
				}
			}
			return text
		}
		if status := a.run(t, "Fix it."); status != http.StatusOK || len(said) == 0 {
			t.Fatal(status, said)
		}
		if refused := up.Refused(); len(refused) > 0 {
			t.Errorf("refused: %q", refused)
		}
		// Nothing was asked in an answer.
		if text, failed := called(t, p.url, `{"query":"port"}`, ""); !failed || !strings.Contains(text, "cannot tell") {
			t.Errorf("what no model asked: %q", text)
		}
	})
}

// called calls the tool with arguments.
func called(t *testing.T, base, arguments, session string) (text string, failed bool) {
	t.Helper()
	_, answer, err := post(base+"/t/"+token+"/mcp", http.Header{"X-Thresh-Session": {session}}, fmt.Appendf(nil,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"thresh_recall","arguments":%s}}`, arguments))
	var a struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	if err != nil || json.Unmarshal(answer, &a) != nil || len(a.Result.Content) != 1 {
		t.Fatalf("%v: %s", err, answer)
	}
	return a.Result.Content[0].Text, a.Result.IsError
}

// ask calls the tool.
func ask(t *testing.T, url, id string, header http.Header) (status int, answer []byte) {
	t.Helper()
	meta := ""
	if header.Get("Mcp-Method") != "" {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":{}}`
	}
	status, answer, err := post(url, header, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call",`+
		`"params":{"name":"thresh_recall","arguments":{"id":%q}%s}}`, id, meta))
	if err != nil {
		t.Fatal(err)
	}
	return status, answer
}

// recall calls the tool in a conversation, as a client of a revision with initialize does and as one of the stateless
// revision. failed: the answer is an error for the model.
func recall(t *testing.T, base, id, session string) (text string, failed bool) {
	t.Helper()
	for i, header := range []http.Header{{}, {"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"},
		"Mcp-Name": {"thresh_recall"}}} {
		header.Set("X-Thresh-Session", session)
		_, answer := ask(t, base+"/t/"+token+"/mcp", id, header)
		var a struct {
			Result struct {
				Content []struct{ Text string }
				IsError bool
			}
		}
		if json.Unmarshal(answer, &a) != nil || len(a.Result.Content) != 1 {
			t.Fatalf("%s", answer)
		}
		if now := a.Result.Content[0].Text; i > 0 && now != text {
			t.Errorf("%s gives back %.100q and %.100q", id, text, now)
		}
		text, failed = a.Result.Content[0].Text, a.Result.IsError
	}
	if head, rest, is := strings.Cut(text, "\n"); is && strings.HasPrefix(head, "[recalled: turn 1, ") &&
		strings.Contains(head, ", id "+id+", seal ") && strings.HasSuffix(head, "]") {
		text = rest
	}
	return text, failed
}

// The marks in the places of removed results count as sent.
func TestMarksCountAsSent(t *testing.T) {
	sent := func(change ...func(*proxy.Options)) (tokens, marked int) {
		up := provider(t, modelapi.Options{Script: work(6)})
		settings := recallSettings(t)
		settings["model.contextLimit"] = 15_000
		p := stand(t, up.URL, settings, change...)
		a := &agent{form: recalling{form: messagesForm{"s"}}, base: p.url, result: files}
		if status := a.run(t, "Fix it."); status != http.StatusOK {
			t.Fatal(status)
		}
		for _, r := range up.Models() {
			marked += len(marks([]*modelapi.Request{r}))
		}
		return p.proxy.Totals().Sent, marked
	}
	without, none := sent()
	with, some := sent(recalls(t, false))
	if more := with - without; none > 0 || some == 0 || more < 5*some || more > 20*some {
		t.Errorf("%d marks are sent, and %d tokens more", some, more)
	}
}
