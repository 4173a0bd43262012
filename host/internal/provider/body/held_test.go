package body

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/sdk/content"
)

// words is a result that is longer than what takes its place.
var words = strings.Repeat("long ", 40)

// Of the Messages API, turns with all that a provider runs by itself.
var ran = `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"Fix it."},
	{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},` +
	`{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"encrypted_content":"e"}]},` +
	`{"type":"text","text":"It is so.","citations":[{"cited_text":"so"}]}]},
	{"role":"user","content":"And now?"},
	{"role":"assistant","content":[{"type":"server_tool_use","id":"s2","name":"code_execution","input":{}},` +
	`{"type":"tool_use","id":"t1","name":"Read","input":{},"caller":{"type":"code_execution_20250825","tool_id":"s2"}}]},
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"one"}]},
	{"role":"assistant","content":[{"type":"code_execution_tool_result","tool_use_id":"s2","content":{}},` +
	`{"type":"text","text":"Ran."}]},
	{"role":"user","content":"Search."},
	{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"ToolSearch","input":{}}]},
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"tool_reference","tool_name":"Ship"}]}]},
	{"role":"assistant","content":[{"type":"tool_use","id":"t3","name":"ToolSearch","input":{}}]},
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3","content":[{"type":"tool_reference","tool_name":"Ship"}]}]},
	{"role":"assistant","content":[{"type":"mcp_tool_use","id":"m1","name":"x","server_name":"y","input":{}},` +
	`{"type":"mcp_tool_result","tool_use_id":"m1","is_error":false,"content":[]},{"type":"text","text":"Done."}]},
	{"role":"user","content":"Go on."}],"tools":[{"name":"Read"}]}`

// What the provider ran goes with the turn that it is in, a call and its result together, wherever they are. What made
// a tool known stays as long as nothing later did so again.
func TestWhatTheProviderRanGoesWithItsTurn(t *testing.T) {
	everyView(t, map[provider.API]string{provider.Messages: ran})
	r := index(t, provider.Messages, ran)
	entries, view := numbered(r)
	only := func(keep func(e Entry) bool) string {
		var some []Shown
		for i, e := range entries {
			if keep(e) {
				some = append(some, view[i])
			}
		}
		return edit(t, r, entries, some)
	}
	got := only(func(Entry) bool { return false })
	for _, gone := range []string{"web_search", "code_execution", "mcp_tool", `"t1"`, `"t2"`, "It is so."} {
		if strings.Contains(got, gone) {
			t.Errorf("%s is still there:\n%s", gone, got)
		}
	}
	if !strings.Contains(got, `"t3","content":[{"type":"tool_reference","tool_name":"Ship"}]`) || !strings.Contains(got, `"id":"t3"`) {
		t.Errorf("the tool is not known any more:\n%s", got)
	}
	got = only(func(e Entry) bool { return strings.Contains(fmt.Sprint(e.Content.Blocks), "Ran.") })
	if !strings.Contains(got, `"id":"s2"`) || !strings.Contains(got, `"tool_use_id":"t1"`) {
		t.Errorf("a result of the provider has lost its call:\n%s", got)
	}
}

// The same in items of the Responses API, and in parts of Gemini's.
func TestOtherProvidersToolsGoWithTheirTurn(t *testing.T) {
	for api, raw := range map[provider.API]string{
		provider.Responses: `{"input":[{"role":"user","content":"Fix it."},
			{"type":"web_search_call","id":"w1","status":"completed"},{"type":"mcp_call","id":"m1","output":"x"},
			{"type":"mcp_approval_request","id":"a1","name":"w1"},{"type":"mcp_approval_response","approval_request_id":"a1"},
			{"type":"file_search_call","id":"f1"},{"type":"code_interpreter_call","id":"i1"},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"So."}]},{"role":"user","content":"And?"},
			{"type":"tool_search_call","call_id":"x1"},{"type":"tool_search_output","call_id":"x1","tools":[{"name":"ship"}]},
			{"role":"user","content":"Go on."},
			{"type":"tool_search_call","call_id":"x2"},{"type":"tool_search_output","call_id":"x2","tools":[{"name":"ship"}]},
			{"role":"user","content":"Go on."}],"tools":[{"type":"function"}]}`,
		provider.Gemini: `{"contents":[{"role":"user","parts":[{"text":"Fix it."}]},
			{"role":"model","parts":[{"executableCode":{"code":"x1"}},{"codeExecutionResult":{"output":"w1"}},{"text":"So."}]},
			{"role":"user","parts":[{"text":"And?"}]},{"role":"model","parts":[{"text":"x2"}]},
			{"role":"user","parts":[{"text":"Go on."}]}],"tools":[{"codeExecution":{}}]}`,
	} {
		everyView(t, map[provider.API]string{api: raw})
		r := index(t, api, raw)
		entries, view := numbered(r)
		last := view[len(view)-2:]
		got := edit(t, r, entries, last)
		if strings.Contains(got, "w1") || strings.Contains(got, "x1") || !strings.Contains(got, "x2") {
			t.Errorf("%s:\n%s", api, got)
		}
	}
}

// What stands before a summary that the provider made does not count for it: it is no part of the conversation, and
// never changed. An attempt at a summary that failed leaves out nothing.
func TestWhatPrecedesAProvidersSummary(t *testing.T) {
	summed := strings.Replace(bodies[provider.Messages], `{"role":"assistant","content":[{"type":"text","text":"Again."}`,
		`{"role":"assistant","content":[{"type":"compaction","content":"A summary."},{"type":"text","text":"Again."}`, 1)
	everyView(t, map[provider.API]string{provider.Messages: summed})
	r := index(t, provider.Messages, summed)
	entries, _ := numbered(r)
	if len(r.Items) != 2 || len(entries) != 2 || bytes.Contains(r.Rest(), []byte("Fix it.")) {
		t.Errorf("%d items, %d entries, besides them %s", len(r.Items), len(entries), r.Rest())
	}
	if got := edit(t, r, entries, nil); got != summed {
		t.Errorf("got %s", got)
	}
	r = index(t, provider.Messages, strings.Replace(summed, `"A summary."`, `null`, 1))
	if len(r.Items) != 6 {
		t.Errorf("a summary that failed leaves %d items", len(r.Items))
	}
}

// A marker within a result's content stays with it: on the result that gets another text, and on the block before one
// that goes.
func TestAMarkerWithinAResultMoves(t *testing.T) {
	for api, inner := range map[provider.API]string{
		provider.Messages: `"tool_use_id":"t1","content":"one"`, provider.Chat: `"tool_call_id":"t1","content":"one"`,
	} {
		marked := strings.Replace(inner, `"one"`, `[{"type":"text","text":"`+words+`","cache_control":{"type":"ephemeral"}}]`, 1)
		r := index(t, api, strings.Replace(bodies[api], inner, marked, 1))
		entries, view := numbered(r)
		changed := slices.Clone(view)
		for i, s := range changed {
			for j, b := range s.Content.Blocks {
				if was, ok := b.(content.ToolResponse); ok && was.ResultText() == words {
					changed[i].Content.Blocks = slices.Clone(s.Content.Blocks)
					changed[i].Content.Blocks[j] = was.WithResultText("short")
				}
			}
		}
		had := strings.Count(string(r.Raw), "cache_control")
		if got := edit(t, r, entries, changed); strings.Count(got, "cache_control") != had || !strings.Contains(got, "short") {
			t.Errorf("%s: another text: %s", api, got)
		}
		if api == provider.Messages {
			if got := edit(t, r, entries, slices.Delete(slices.Clone(view), 2, 4)); !strings.Contains(got, "cache_control") {
				t.Errorf("%s: gone: %s", api, got)
			}
		}
	}
}

func called(b content.Block) bool { _, ok := b.(content.ToolCall); return ok }

// Where roles alternate when a request comes, they alternate when it goes: neighbours that were parted are joined, and
// a line that a strategy made is said in the message next to it. Nothing of what stays is lost.
func TestRolesAlternateAsTheyDid(t *testing.T) {
	chat := func(items string) string { return `{"messages":[` + items + `],"tools":[{"type":"function"}]}` }
	for name, c := range map[string]struct {
		api provider.API
		raw string
	}{
		"strings": {provider.Chat, chat(`{"role":"user","content":"one\""},{"role":"assistant","content":"two"},` +
			`{"role":"user","content":"three"},{"content":"four","role":"assistant"},{"role":"user","content":"five"},` +
			`{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
			`{"role":"tool","tool_call_id":"t","content":"six"},{"role":"assistant","tool_calls":[{"id":"u","type":"function",` +
			`"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"u","content":"seven"}`)},
		"strings and lists": {provider.Messages, `{"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"two"},` +
			`{"role":"user","content":[{"type":"text","text":"three"}]},{"role":"assistant","content":[{"type":"thinking",` +
			`"thinking":"hm","signature":"s"},{"type":"text","text":"four"}]},{"role":"user","content":"five"},{"role":"assistant",` +
			`"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"t","name":"f","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"six","cache_control":{}}]},` +
			`{"role":"assistant","content":"seven"},{"role":"user","content":"eight"}],"tools":[{}]}`},
		"the role last": {provider.Chat, chat(`{"content":"one","role":"user"},{"content":"two","role":"assistant"},` +
			`{"content":[{"type":"text","text":"three"}],"role":"user"},{"content":"four","role":"assistant"},` +
			`{"content":"five","role":"user"}`)},
		"parts": {provider.Gemini, `{"contents":[{"role":"user","parts":[{"text":"one"}]},{"role":"model","parts":[{"text":"two"}]},` +
			`{"role":"user","parts":[{"text":"three"},{"text":"more"}]},{"role":"model","parts":[{"text":"four"}]},` +
			`{"role":"user","parts":[{"text":"five"}]},{"role":"model","parts":[{"text":"six"}]},{"role":"user","parts":[` +
			`{"text":"seven"}]}],"tools":[{}]}`},
	} {
		r := index(t, c.api, c.raw)
		if !r.alternates() {
			t.Fatalf("%s: the roles do not alternate", name)
		}
		entries, view := numbered(r)
		for mask := range 1 << len(view) {
			some := chosen(view, mask)
			for i := range len(some) + 1 {
				for _, by := range []content.Speaker{content.AI, content.Human} {
					if i == 0 && by == content.AI || i > 0 && slices.ContainsFunc(some[i-1].Content.Blocks, called) {
						continue
					}
					line := content.Content{Speaker: by, Blocks: []content.Block{content.Text{Text: "A \"line\"."}}}
					got := edit(t, r, entries, slices.Insert(slices.Clone(some), i, Shown{"", line}))
					if strings.Count(got, `A \"line\".`) != 1 {
						t.Errorf("%s: the line is not there once: %s", name, got)
					}
					for _, s := range some {
						for _, b := range s.Content.Blocks {
							if text, ok := b.(content.Text); ok && !strings.Contains(got, strings.Trim(string(content.String(text.Text)), `"`)) {
								t.Errorf("%s: %q is lost: %s", name, text.Text, got)
							}
						}
					}
				}
			}
			if t.Failed() {
				break
			}
		}
	}
}

// Several summaries in a row, each with an answer, leave the roles as they were: one of a person, and the answers in the
// model's message.
func TestSummariesInARowAlternate(t *testing.T) {
	r := index(t, provider.Chat, `{"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"two"},`+
		`{"role":"user","content":"three"},{"role":"assistant","content":"four"},{"role":"user","content":"five"}],`+
		`"tools":[{"type":"function"}]}`)
	entries, view := numbered(r)
	said := func(by content.Speaker, text string) Shown {
		return Shown{"", content.Content{Speaker: by, Blocks: []content.Block{content.Text{Text: text}}}}
	}
	row := []Shown{said(content.Human, "s1"), said(content.AI, "a1"), said(content.Human, "s2"), said(content.AI, "a2")}
	for n := range len(row) + 1 {
		got := edit(t, r, entries, slices.Concat(row[:n], view[3:]))
		for _, s := range row[:n] {
			if text := s.Content.Blocks[0].(content.Text).Text; strings.Count(got, text) != 1 {
				t.Errorf("%s is not there once: %s", text, got)
			}
		}
	}
}

// A trace tells what is sent otherwise from what is sent again: an entry that goes, a new text, a line that was made.
func TestATraceTellsWhatChanged(t *testing.T) {
	r := index(t, provider.Messages, bodies[provider.Messages])
	entries, view := numbered(r)
	trace := func(view []Shown) Trace {
		p, err := r.NewPlan(entries, view)
		if err != nil {
			t.Fatal(err)
		}
		return p.Trace()
	}
	changed := slices.Clone(view)
	changed[0].Content = content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: "Mend it."}}}
	made := Shown{"", content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: "A line."}}}}
	for name, tt := range map[string]struct {
		view []Shown
		is   bool
	}{
		"the same": {view, false}, "a text": {changed, true}, "a line": {slices.Insert(slices.Clone(view), 1, made), true},
		"what is gone": {slices.Delete(slices.Clone(view), 1, 3), true},
	} {
		if _, is := trace(tt.view).Changed(trace(view)); is != tt.is {
			t.Errorf("%s: changed: %v", name, is)
		}
	}
}
