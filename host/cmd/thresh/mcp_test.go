package main_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A service gives back over HTTP what a session of its store had, to who has a token and says which session. (mcp.txtar
// asks the same over standard input.)
func TestResultsAreGivenBackOverHTTP(t *testing.T) {
	t.Parallel()
	s := newPlace(t).serveNetwork("--set", "serve.listen=127.0.0.1:0")
	call := content.ToolCall{ID: "call_1", Name: "read_file"}
	response := content.ToolResponse{CallID: call.ID, ToolName: call.Name}.WithResultText("package calc")
	if _, err := s.session(api.OpenRequest{ID: "chat"}).Add(t.Context(), api.Entries(content.Content{Speaker: content.AI, Blocks: []content.Block{call}},
		content.Content{Speaker: content.Tool, Blocks: []content.Block{response}})); err != nil {
		t.Fatal(err)
	}
	const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"thresh_recall","arguments":` +
		`{"id":"call_1"}}}`
	stateless := strings.Replace(message, `"call_1"}`, `"call_1"},"_meta":{"io.modelcontextprotocol/protocolVersion":`+
		`"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`, 1)
	for name, c := range map[string]struct{ message, session, token, want string }{
		"it is given back":         {message, "chat", s.local(), `\npackage calc"`},
		"to a stateless client":    {stateless, "chat", s.local(), "resultType"},
		"of a session that is not": {message, "no-such", s.local(), `"isError":true`},
		"with a wrong token":       {message, "chat", "wrong", "token"},
		"without saying of what":   {message, "", s.local(), "the header X-Thresh-Session is missing"},
	} {
		headers := []string{"X-Thresh-Session", c.session}
		if c.message == stateless {
			headers = append(headers, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name",
				"thresh_recall")
		}
		if _, text := fetch(t, s.address+"/mcp", c.token, c.message, headers...); !strings.Contains(text, c.want) {
			t.Errorf("%s: %s", name, text)
		}
	}
	s.end(syscall.SIGTERM)
}
