package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// known has a result, a call, something that is found, and an id that cannot be read.
var known = &Server{Recall: func(_ context.Context, a Asked) (Answer, error) {
	of := func(id, kind, text string) Part {
		p := Part{Passage: search.Lines(text, 1, 99), ID: id}
		p.Turn, p.Kind, p.Tool, p.Argument, p.Speaker = 3, kind, "read", "a.go", content.AI
		return p
	}
	switch {
	case a.ID == "call_1":
		return Answer{Parts: []Part{of(a.ID, content.KindToolResponse, "one <line>\ntwo\nthree\n")}}, nil
	case a.ID == "e7":
		return Answer{Parts: []Part{of("e7.0", content.KindText, "a long message"),
			of("e7.1", content.KindToolCall, "x: 1")}}, nil
	case a.ID == "7", a.Query == "two":
		return Answer{Parts: []Part{of("7", content.KindToolResponse, "two")}}, nil
	case a.Query == "run":
		call, code := of("e8.0", content.KindToolCall, "command: go test"), of("7", content.KindText, "x\n")
		call.Passage.Result, call.Result = &outcome.Result{Of: 40, Text: "ok\n… 38 lines …\nFAIL\n"}, "e9.0"
		code.Passage.Also = []outcome.Again{{Place: outcome.Place{Line: 4}, Changed: true}, {}}
		code.Also = []string{"5", ""}
		return Answer{Parts: []Part{call, code}, More: 3, Absent: []string{"zebra"}}, nil
	case a.ID == "broken":
		return Answer{}, errors.New("the store cannot be read")
	}
	return Answer{}, nil
}}

// Both transports answer each message alike. "" is no answer.
func TestMessages(t *testing.T) {
	call := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"thresh_recall","arguments":` +
			arguments + `,"_meta":{"progressToken":1}}}`
	}
	modern := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	}
	for name, m := range map[string]struct{ message, want string }{
		"a known revision": {`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{` +
			`"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, `"protocolVersion":"2025-03-26"`},
		"another revision": {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}`,
			`"protocolVersion":"2025-11-25"`},
		"no revision": {`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, `"code":-32602`},
		"initialized": {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		"ping":        {`{"jsonrpc":"2.0","id":3,"method":"ping"}`, `{"jsonrpc":"2.0","id":3,"result":{}}`},
		"the tools":   {`{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{}}`, `"name":"thresh_recall"`},
		"a result": {call(`{"id":"call_1"}`), `"result":{"content":[{"text":"` +
			`[recalled: turn 3, read a.go, lines 1-3 of 3, id call_1]\none <line>\ntwo\nthree\n","type":"text"}]}`},
		"an entry": {call(`{"id":"e7"}`), `"text":"[recalled: turn 3, said by the assistant, lines 1-1 of 1, id e7.0]\n` +
			`a long message\n\n[recalled: turn 3, call of read a.go, lines 1-1 of 1, id e7.1]\nx: 1"`},
		"words":       {call(`{"query":"two"}`), `lines 1-1 of 1, id 7]\ntwo"`},
		"other words": {call(`{"query":"none"}`), `"result":{"content":[{"text":"nothing that was removed has these`},
		"what is next to it": {call(`{"query":"run","limit":"2"}`), `id e8.0]\ncommand: go test\n[its result: 40 lines, id e9.0]\n` +
			`ok\n… 38 lines …\nFAIL\n\n[recalled: turn 3, said by the assistant, lines 1-1 of 1, id 7]\nx\n` +
			`[also at id 5, line 4, changed since]\n\n[nothing that was removed has: zebra]\n\n` +
			`[up to 3 more have as many of these words: limit shows them]"`},
		"a limit of none":      {call(`{"query":"two","limit":0}`), `give 1 to 100 passages`},
		"a number as id":       {call(`{"id":7}`), `id 7]\ntwo"`},
		"lines of a result":    {call(`{"id":"call_1","lines":"2-3"}`), `lines 2-3 of 3, id call_1]\ntwo\nthree\n"`},
		"a line":               {call(`{"id":"call_1","lines":2}`), `lines 2-2 of 3, id call_1]\ntwo\n"`},
		"lines behind the end": {call(`{"id":"call_1","lines":"4-5"}`), `"isError":true`},
		"no lines":             {call(`{"id":"call_1","lines":"two"}`), `the first and the last line`},
		"lines of words":       {call(`{"query":"two","lines":"2"}`), `"isError":true`},
		"few tokens":           {call(`{"id":"call_1","tokens":"5"}`), `lines 1-2 of 3, id call_1]\none <line>\ntwo\n"`},
		"no tokens":            {call(`{"query":"two","tokens":0}`), `give 1 to 100000`},
		"too many tokens":      {call(`{"query":"two","tokens":500000}`), `give 1 to 100000`},
		"words and an id":      {call(`{"query":"two","id":"7"}`), `not both`},
		"an unknown id":        {call(`{"id":"call_9"}`), `"isError":true`},
		"no id":                {call(`{}`), `"isError":true`},
		"a broken store":       {call(`{"id":"broken"}`), `"text":"the store cannot be read"`},
		"wrong arguments":      {call(`[]`), `"isError":true`},
		"another tool":         {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, `"code":-32602`},
		"another method":       {`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, `"code":-32601`},
		"the latest revision":  {modern("server/discover", ""), `"supportedVersions":["2026-07-28","2025-11-25"`},
		"its tools":            {modern("tools/list", ""), `"ttlMs":3600000`},
		"its result": {modern("tools/call", `"name":"thresh_recall","arguments":{"id":"call_1"},`),
			`"resultType":"complete"`},
		"its pings": {modern("ping", ""), `"code":-32601`},
		"a later revision": {strings.Replace(modern("tools/list", ""), "2026-07-28", "2199-01-01", 1),
			`"code":-32022,"message":"unsupported protocol version","data":{"requested":"2199-01-01","supported":["2026-07-28"`},
		"without capabilities": {strings.Replace(modern("tools/list", ""), "clientCap", "other", 1), `"code":-32602,"message":"params: _meta`},
		"no JSON":              {`{"jsonrpc"`, `"code":-32700`},
		"a batch":              {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `"code":-32600`},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := known.Serve(t.Context(), strings.NewReader("\n"+m.message+"\n"), &out); err != nil {
				t.Fatal(err)
			}
			w, q := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, Path, strings.NewReader(m.message))
			if method := rawjson.FieldText([]byte(m.message), "method"); strings.Contains(m.message, stateless) {
				q.Header = http.Header{"Mcp-Protocol-Version": {stateless}, "Mcp-Method": {method}, "Mcp-Name": {Tool}}
			}
			known.ServeHTTP(w, q)
			status := http.StatusOK
			switch {
			case m.want == "":
				status = http.StatusAccepted
			case name == "its pings":
				status = http.StatusNotFound
			case strings.Contains(m.want, "-32022"), strings.Contains(m.want, "_meta"):
				status = http.StatusBadRequest
			case strings.Contains(m.want, "-32700"), strings.Contains(m.want, "-32600"):
				status = http.StatusBadRequest
			}
			if w.Body.String() != out.String() || w.Code != status {
				t.Errorf("over HTTP: %d %s", w.Code, w.Body)
			}
			if !strings.Contains(out.String(), m.want) || (m.want == "") != (out.Len() == 0) {
				t.Errorf("answered %q, want %q", out.String(), m.want)
			}
		})
	}
}

// Over HTTP, what is no message gets a status that clients of the protocol understand.
func TestWhatIsNoMessage(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for want, r := range map[int]*http.Request{
		http.StatusMethodNotAllowed: httptest.NewRequest(http.MethodGet, Path, nil),
		http.StatusBadRequest:       httptest.NewRequest(http.MethodPost, Path, strings.NewReader(ping)),
	} {
		r.Header.Set("MCP-Protocol-Version", "2199-01-01")
		w := httptest.NewRecorder()
		if known.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: %d", r.Method, w.Code)
		}
	}
}

// What stands in between reads headers: those of a message must say what it says.
func TestHeadersAgree(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"thresh_recall","arguments":{"id":"e7"},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	for _, tt := range []struct {
		name, value string
		want        int
	}{
		{"Mcp-Name", Tool, 200}, {"Mcp-Name", "=?base64?dGhyZXNoX3JlY2FsbA==?=", 200}, {"Mcp-Name", "other", 400},
		{"Mcp-Name", "", 400}, {"Mcp-Method", "tools/list", 400}, {"MCP-Protocol-Version", "2025-11-25", 400},
	} {
		q, w := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(call)), httptest.NewRecorder()
		q.Header = http.Header{"Mcp-Protocol-Version": {stateless}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {Tool}}
		q.Header.Set(tt.name, tt.value)
		if known.ServeHTTP(w, q); w.Code != tt.want || w.Code == 400 && !strings.Contains(w.Body.String(), "-32020") {
			t.Errorf("%s %q: %d %s", tt.name, tt.value, w.Code, w.Body)
		}
	}
}
