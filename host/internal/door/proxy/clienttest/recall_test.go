package clienttest

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/api"
	host "github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/sdk/content"
)

// recalls reports whether an agent has tools of MCP servers, and writes what docs/use-with.md says that it needs for that.
func (c client) recalls(t *testing.T, p place) bool {
	t.Helper()
	if c.install == "gemini" {
		settings := filepath.Join(p.project, ".gemini", "settings.json")
		if err := errors.Join(os.Mkdir(filepath.Dir(settings), 0o700), os.WriteFile(settings,
			[]byte(`{"mcpServers":{"thresh":{"httpUrl":"$THRESH_MCP_URL","trust":true}}}`), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return c.program == ""
}

// Each agent that has tools of MCP servers has the tool by which its model finds what was removed, without a setting,
// and calls it without asking its user. The first result is too small for an id, and went with its whole turn.
func TestAgentsFindWhatWasRemoved(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		p := newPlace(t)
		if !c.recalls(t, p) {
			t.Skip("SKIPPED: it has no tools of MCP servers")
		}
		if c.asking != nil {
			c.args = c.asking
		}
		script := append([]modelapi.Turn{{modelapi.Run("seq -f 'port 47%g is of zebra42' 11 11")}}, modelapi.NewsFix(16)...)
		script = append(script, modelapi.Turn{modelapi.Find()}, modelapi.Turn{modelapi.Search("port of zebra42")})
		up := modelapi.New(modelapi.Options{Script: script, Dir: p.project})
		defer up.Close()
		settings := small(c)
		settings["compression.strategy"] = "top-down-truncation"
		p.run(t, c, up.URL, flags(settings, "wrap")...).check(t, p, up)
		sent := up.Models()
		if len(sent) == 0 {
			return // check has said so
		}
		last := string(sent[len(sent)-1].Body)
		_, found, ok := strings.Cut(last, "[recalled: turn ")
		if !ok || !strings.Contains(found, "port 4711 is of zebra42") {
			t.Errorf("%d requests; the end of the last is %s", len(sent), tail(last))
		}
	})
}

// The protocol's own clients, of both generations, read a result that thresh serve has stored: from the service, and
// from thresh sessions mcp.
func TestTheProtocolsOwnClients(t *testing.T) {
	t.Parallel()
	script := filepath.Join(client{install: "mcp"}.installed(t), "mcp.mjs")
	text, err := os.ReadFile("testdata/mcp.mjs")
	if err == nil {
		err = os.WriteFile(script, text, 0o600) // Node looks for packages where a program is
	}
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	environ := p.environ("http://127.0.0.1:1")
	serve := exec.Command(p.thresh(), "serve", "--set", "serve.listen=127.0.0.1:0")
	serve.Env = environ
	log, err := serve.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = serve.Process.Kill(); _ = serve.Wait() }()
	address := ""
	for lines := bufio.NewScanner(log); address == "" && lines.Scan(); {
		_, address, _ = strings.Cut(lines.Text(), "serving at ")
	}
	token, err := os.ReadFile(filepath.Join(p.home, "state", "thresh", "token"))
	if err != nil {
		t.Fatal(err)
	}
	service, err := host.New(address, host.Options{Token: strings.TrimSpace(string(token))})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	session, err := service.Open(t.Context(), api.OpenRequest{ID: "chat"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Add(t.Context(), api.Entries(
		content.Content{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: "call_1", Name: "read_file"}}},
		content.Content{Speaker: content.Tool, Blocks: []content.Block{
			content.ToolResponse{CallID: "call_1", ToolName: "read_file"}.WithResultText("the text")}})); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	node := exec.CommandContext(ctx, "node", script, address, strings.TrimSpace(string(token)), p.thresh())
	node.Env = environ
	out, err := node.CombinedOutput()
	const each = "thresh_recall false: [recalled: turn 0, read_file, lines 1-1 of 1, id e2.0]\nthe text; true: nothing in this conversation has the id \"call_2\"\n"
	want := strings.Repeat("v1 "+each, 2) + strings.Repeat("v2 "+each, 2) + strings.Repeat("stateless "+each, 2)
	if said := regexp.MustCompile(`, seal \d{9}]`).ReplaceAllString(string(out), "]"); err != nil || said != want {
		t.Errorf("%v: %s", err, out)
	}
}
