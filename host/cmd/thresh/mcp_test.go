package main_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/sdk/content"
)

// What was added to a session of the store is given back under the id of its call or its entry: by thresh sessions mcp, and by a
// service over HTTP with a token, also to clients of the stateless revision. Which session must be said: another has
// calls with the same ids.
func TestResultsAreGivenBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.serveNetwork("--set", "serve.listen=127.0.0.1:0", "--set", "proxy.recall=true")
	for id, text := range map[string]string{"chat": "package calc", "later": "of another conversation"} {
		session, err := s.client().Open(t.Context(), client.OpenOptions{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		call := content.ToolCall{ID: "call_1", Name: "read_file"}
		response := content.ToolResponse{CallID: call.ID, ToolName: call.Name}.WithResultText(text)
		if _, err := session.Add(t.Context(), content.Content{Speaker: content.AI, Blocks: []content.Block{call}},
			content.Content{Speaker: content.Tool, Blocks: []content.Block{response}}); err != nil {
			t.Fatal(err)
		}
	}
	token, err := os.ReadFile(s.token)
	if err != nil {
		t.Fatal(err)
	}
	overHTTP := func(message, session, token string) string {
		headers := []string{"X-Thresh-Session", session}
		if strings.Contains(message, "2026-07-28") {
			headers = append(headers, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name",
				"thresh_recall")
		}
		_, text := fetch(t, s.address+"/mcp", strings.TrimSpace(token), message, headers...)
		return text
	}
	onStdio := func(message, session, _ string) string {
		cmd := p.command("sessions", "mcp", "--session", session)
		cmd.Stdin = strings.NewReader(message + "\n")
		r := p.finish(cmd)
		if r.code != 0 {
			t.Errorf("%d %s", r.code, r.stderr)
		}
		return r.stdout
	}
	for name, ask := range map[string]func(message, session, token string) string{"HTTP": overHTTP, "stdio": onStdio} {
		for _, c := range []struct{ id, session, want string }{
			{"call_1", "chat", `"text":"package calc"`},
			{"e2", "chat", `"text":"package calc"`},
			{"call_2", "chat", `nothing in this conversation`},
			{"call_1", "no-such", `"isError":true`},
		} {
			for _, meta := range []string{"", `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
				`"io.modelcontextprotocol/clientCapabilities":{}}`} {
				got := ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"thresh_recall",`+
					`"arguments":{"id":%q}%s}}`, c.id, meta), c.session, string(token))
				if !strings.Contains(got, c.want) || strings.Contains(got, "resultType") != (meta != "") {
					t.Errorf("%s: %s in session %q%s: %s", name, c.id, c.session, meta, got)
				}
			}
		}
	}
	if got := overHTTP("{}", "chat", "wrong"); !strings.Contains(got, "token") {
		t.Errorf("with a wrong token: %s", got)
	}
	if got := overHTTP("{}", "", string(token)); !strings.Contains(got, "the header X-Thresh-Session is missing") {
		t.Errorf("over HTTP without a session: %s", got)
	}
	if r := p.finish(p.command("sessions", "mcp")); r.code != 2 || !strings.Contains(r.stderr, "needs --session ID") {
		t.Errorf("on stdio without a session: %d %s", r.code, r.stderr)
	}
	s.end(syscall.SIGTERM)
}
