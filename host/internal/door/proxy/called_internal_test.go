package proxy

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/apis"
)

// events are a stream of server-sent events.
func events(all ...string) string { return "data: " + strings.Join(all, "\n\ndata: ") + "\n\n" }

// The calls in an answer are known before the client has the last of its bytes, however it is cut.
func TestCallsAreReadOnTheWay(t *testing.T) {
	want := []string{`c1 read {"path":"a"}`, `c2 mcp__thresh__thresh_recall {"query":"a b"}`}
	for _, a := range []struct {
		api    provider.API
		stream bool
		text   string
	}{
		{provider.Messages, false, `{"content":[{"type":"text","text":"Now."},{"type":"tool_use","id":"c1","name":"read",` +
			`"input":{"path":"a"}},{"type":"tool_use","id":"c2","name":"mcp__thresh__thresh_recall","input":{"query":"a b"}}]}`},
		{provider.Messages, true, events(
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c1","name":"read","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"a\"}"}}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c2","name":"mcp__thresh__thresh_recall","input":{}}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"a b\"}"}}`)},
		{provider.Chat, false, `{"choices":[{"message":{"tool_calls":[{"id":"c1","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},` +
			`{"id":"c2","function":{"name":"mcp__thresh__thresh_recall","arguments":"{\"query\":\"a b\"}"}}]}}]}`},
		{provider.Chat, true, events(
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"a\"}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c2","function":{"name":"mcp__thresh__thresh_recall","arguments":"{\"query\":"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\"a b\"}"}}]}}]}`)},
		{provider.Responses, false, `{"output":[{"type":"tool_search_call","arguments":{"query":"x"}},` +
			`{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}"},` +
			`{"type":"function_call","call_id":"c2","name":"mcp__thresh__thresh_recall","arguments":"{\"query\":\"a b\"}"}]}`},
		{provider.Responses, true, events(
			`{"type":"response.output_item.added","item":{"type":"function_call","call_id":"c1","name":"read","arguments":""}}`,
			`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}"}}`,
			`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c2","name":"mcp__thresh__thresh_recall","arguments":"{\"query\":\"a b\"}"}}`,
			`{"type":"response.completed","response":{"output":[{"type":"function_call","call_id":"c2","name":"mcp__thresh__thresh_recall","arguments":"{}"}]}}`)},
		{provider.Gemini, true, events(`{"candidates":[{"content":{"parts":[{"text":"Now."}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"id":"c1","name":"read","args":{"path":"a"}}},`+
				`{"functionCall":{"id":"c2","name":"mcp__thresh__thresh_recall","args":{"query":"a b"}}}]}}]}`)},
	} {
		for name, r := range map[string]io.Reader{
			"whole":        strings.NewReader(a.text),
			"byte by byte": iotest.OneByteReader(strings.NewReader(a.text)),
		} {
			h := &heard{pieces: apis.Of(a.api).Calls}
			answer := &http.Response{Header: typed(a.stream), Body: io.NopCloser(r), ContentLength: int64(len(a.text))}
			through := newTee(answer, a.api, h, func([]provider.Window) {}, func(provider.Usage, []byte) {})
			if _, err := io.CopyN(io.Discard, through, int64(len(a.text))); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range h.calls {
				got = append(got, c.ID+" "+c.Name+" "+string(c.Arguments))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, streamed: %v, %s: %s", a.api, a.stream, name, diff)
			}
		}
	}
}

// What a call has, and how many are noted, is bounded.
func TestCallsAreBounded(t *testing.T) {
	h := &heard{pieces: apis.Of(provider.Gemini).Calls}
	long := bytes.Repeat([]byte("x"), provider.MaxArguments)
	for range 2 * provider.MaxCalls {
		h.take([]byte(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"read","args":{"path":"` + string(long) + `"}}}]}}]}`))
	}
	if len(h.calls) != provider.MaxCalls || len(h.calls[0].Arguments) != 0 {
		t.Errorf("%d calls, the first with %d bytes", len(h.calls), len(h.calls[0].Arguments))
	}
}

// A call that arrives is of the answer that has it: by its id or its conversation, if the client says these, else by its
// arguments, also in a script. One that may be of two conversations is of none, nor one that no answer has.
func TestWhoseCallItIs(t *testing.T) {
	type called = provider.Called
	const same, other = `{"query":"port of zebra"}`, `{"query":"another"}`
	call := func(tool, arguments string) called { return called{Name: tool, Arguments: []byte(arguments)} }
	const recall, script = "mcp__thresh__thresh_recall", `await tools.thresh_recall({query: "port of zebra"})`
	asks := call(recall, same)
	first, second := asks, asks
	first.ID, second.ID = "c1", "c2"
	for name, tt := range map[string]struct {
		main, sub called
		given     bool // main was answered
		meta      string
		shared    bool // both have one identity
		want      string
	}{
		"the same arguments":      {call(recall, ` {"query" : "port of zebra"}`), call(recall, other), false, "", false, "main"},
		"a script":                {call("read", same), call("exec", script), false, "", false, "sub"},
		"its id":                  {first, second, false, `{"claudecode/toolUseId":"c2"}`, false, "sub"},
		"its conversation":        {asks, asks, false, `{"x":{"thread_id":"sub"}}`, false, "sub"},
		"both":                    {asks, asks, false, "", false, errSeveral.Error()},
		"both, of one identity":   {asks, asks, false, "", true, errSeveral.Error()},
		"one that was answered":   {asks, asks, true, "", false, "sub"},
		"asked again":             {asks, called{}, true, "", false, "main"},
		"none":                    {call(recall, other), call("read", same), false, "", false, errUnheard.Error()},
		"none, of a conversation": {called{}, called{}, false, `{"threadId":"main"}`, false, "main"},
	} {
		s := &Server{}
		for _, b := range []struct {
			name  string
			heard called
			given bool
		}{{"main", tt.main, tt.given}, {"sub", tt.sub, false}} {
			id := identity{key: b.name, name: b.name, client: b.name, owner: "me"}
			if tt.shared {
				id = identity{key: "k", name: "k", owner: "me", shared: true}
			}
			one := &branch{thread: s.threads.of(id), conversation: b.name}
			if b.heard.Name != "" {
				one.heard.Store(&heard{calls: provider.Calls{b.heard}, given: map[int]bool{0: b.given}})
			}
			s.threads.use(one, 1, 0)
		}
		who := func(owner string) string {
			a := mcp.Asked{Query: "port of zebra", Arguments: []byte(same), Meta: []byte(tt.meta)}
			b, err := s.asking(owner, arrival(a), func(identity) bool { return true })
			if err != nil {
				return err.Error()
			}
			return b.conversation
		}
		if got := who("me"); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if got := who("another"); got != errUnheard.Error() {
			t.Errorf("%s: another owner's is %s", name, got)
		}
	}
}
