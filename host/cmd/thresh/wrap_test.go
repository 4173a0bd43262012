package main_test

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// wrap is thresh wrap with a provider of the test's own.
func (p *place) wrap(up *modelapi.Server, args ...string) result {
	p.t.Helper()
	cmd := p.command(append([]string{"wrap"}, args...)...)
	cmd.Env = append(cmd.Env, "ANTHROPIC_BASE_URL="+up.URL, "OPENAI_BASE_URL="+up.URL+"/v1")
	return p.finish(cmd)
}

// The agent has the variables of its kind, its own streams and exit status; the last line says what was saved.
func TestWrapRunsTheAgent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	up := modelapi.New(modelapi.Options{})
	defer up.Close()
	r := p.wrap(up, "sh", "-c", `echo "$ANTHROPIC_BASE_URL $OPENAI_BASE_URL $NO_PROXY"; echo words >&2; cat; `+
		`exit 7`, "x")
	if r.code != 7 {
		t.Errorf("status %d", r.code)
	}
	urls := strings.Fields(r.stdout)
	if len(urls) != 3 || urls[0]+"/v1" != urls[1] || urls[0] == up.URL || !strings.Contains(urls[2], "127.0.0.1") {
		t.Errorf("the agent has %q", r.stdout)
	}
	if want := "words\nthresh: no request came through the proxy: this command may not read the variables that were " +
		"set\n"; r.stderr != want {
		t.Errorf("standard error %q", r.stderr)
	}
	if r := p.wrap(up, "sh", "-c", "kill -9 $$"); r.code != 128+9 {
		t.Errorf("status %d of an agent that was killed", r.code)
	}
	p.wrap(up, "no-such-agent").failed(t, 1, "the agent cannot be started", "no-such-agent")
	p.run("--strategy", "no-such-strategy", "wrap", "true").failed(t, 1, "no-such-strategy")
	p.run("wrap").failed(t, 2, "needs a COMMAND")
}

// A known agent is told in its own way, under whatever path it is started.
func TestWrapKnowsAgents(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	up := modelapi.New(modelapi.Options{})
	defer up.Close()
	if err := os.MkdirAll(p.path("home", ".cline", "data", "settings"), 0o700); err != nil {
		t.Fatal(err)
	}
	// A provider with a login would have its tokens renewed in the copy: it must not be in it.
	providers := `{"version":1,"lastUsedProvider":"cline","providers":{"cline":{"settings":{"provider":"cline","auth":{` +
		`"refreshToken":"t"}}},"anthropic":{"settings":{"provider":"anthropic","apiKey":"k"},"tokenSource":"manual"}}}`
	if err := os.WriteFile(p.path("home", ".cline", "data", "settings", "providers.json"), []byte(providers),
		0o600); err != nil {
		t.Fatal(err)
	}
	servers := `{"mcpServers":{"mine":{"command":"x"},"login":{"url":"https://example.com","oauth":{"tokens":{}}}}}`
	if err := os.WriteFile(p.path("home", ".cline", "data", "settings", "cline_mcp_settings.json"), []byte(servers),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claude", "codex", "opencode", "qwen", "pi", "cline"} {
		script := "#!/bin/sh\necho \"$ENABLE_TOOL_SEARCH$CLINE_SESSION_BACKEND_MODE|" +
			"$OPENCODE_CONFIG_CONTENT|$*|$THRESH_MCP_URL|$THRESH_MCP_TOKEN|\"\n" +
			"[ \"$1\" = --mcp-config ] && cat \"$2\"\n[ \"$1\" = --extension ] && sed 's/1:[0-9]*/1:PORT/g' \"$2\"\n" +
			"[ -n \"$CLINE_PROVIDER_SETTINGS_PATH\" ] && sed 's/1:[0-9]*/1:PORT/g' " +
			"\"$CLINE_PROVIDER_SETTINGS_PATH\"\n[ -n \"$CLINE_MCP_SETTINGS_PATH\" ] && cat \"$CLINE_MCP_SETTINGS_PATH\"\n" +
			"[ \"$1\" = killed ] && kill -9 $PPID\nexit 0\n"
		if err := os.WriteFile(p.path("work", name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"claude": `true||x`, "codex": `||-c openai_base_url="http://127.0.0.1:`, "opencode": `|{"provider":{"anthropic":`,
	} {
		if r := p.wrap(up, "./"+name, "x"); !strings.HasPrefix(r.stdout, want) || r.code != 0 {
			t.Errorf("%s: %q, %s", name, r.stdout, r.stderr)
		}
	}
	// What the user has set for one run stays, but for the addresses.
	own := p.command("wrap", "./opencode")
	own.Env = append(own.Env, `OPENCODE_CONFIG_CONTENT={"model":"a/b","provider":{"anthropic":{"options":{"timeout":9}}}}`)
	if r := p.finish(own); !strings.Contains(r.stdout, `"model":"a/b"`) || !strings.Contains(r.stdout, `"timeout":9`) ||
		!strings.Contains(r.stdout, `"baseURL":"http://127.0.0.1:`) || r.code != 0 {
		t.Errorf("opencode: %q, %s", r.stdout, r.stderr)
	}
	// opencode reads comments, too; what cannot be merged is not replaced.
	own = p.command("wrap", "./opencode")
	own.Env = append(own.Env, "OPENCODE_CONFIG_CONTENT={\n// mine\n\"model\":\"a/b\",}")
	if r := p.finish(own); !strings.Contains(r.stdout, `"model":"a/b"`) || r.code != 0 {
		t.Errorf("opencode with comments: %d, %q, %s", r.code, r.stdout, r.stderr)
	}
	own = p.command("wrap", "./opencode")
	own.Env = append(own.Env, "OPENCODE_CONFIG_CONTENT={model")
	if r := p.finish(own); r.code != 1 || r.stdout != "" || !strings.Contains(r.stderr, "cannot be merged") {
		t.Errorf("opencode with what is no JSON: %d, %q, %s", r.code, r.stdout, r.stderr)
	}
	// Others read a file, which is there as long as they run.
	for name, want := range map[string]string{
		"pi": `registerProvider("anthropic", { baseUrl: "http://127.0.0.1:PORT" });`,
		"cline": `local||x|||` + "\n" + `{"version":1,"providers":{"anthropic":{"settings":{"apiKey":"k","baseUrl":` +
			`"http://127.0.0.1:PORT/v1","provider":"anthropic"},"tokenSource":"manual"},"gemini":`,
	} {
		r := p.wrap(up, "./"+name, "x")
		if !strings.Contains(r.stdout, want) || strings.Contains(r.stdout, "refreshToken") || r.code != 0 {
			t.Errorf("%s: %q, %s", name, r.stdout, r.stderr)
		}
		if _, path, ok := strings.Cut(r.stdout, "--extension "); name == "pi" {
			path, _, _ = strings.Cut(path, " ")
			if _, err := os.Stat(path); !ok || !os.IsNotExist(err) {
				t.Errorf("%q is left: %v", path, err)
			}
		}
	}
	// With proxy.recall they are told of the MCP server too, and any agent by variables. The token is in none of the
	// arguments, which other users can read.
	for name, want := range map[string]string{
		"claude": `"type":"http","url":"${THRESH_MCP_URL}"`, "codex": `-c mcp_servers.thresh.url="http://127.0.0.1:`,
		"opencode": `"mcp":{"thresh":{"type":"remote","url":"http://127.0.0.1:`,
		"qwen":     `{"mcpServers":{"thresh":{"httpUrl":"http://127.0.0.1:`,
		"pi":       `const server = "http://127.0.0.1:`,
		// One with a login is not in it, as providers with a login are not.
		"cline": `{"mcpServers":{"mine":{"command":"x"},"thresh":{"type":"streamableHttp","url":"http://127.0.0.1:`,
	} {
		cmd := p.command("--set", "proxy.recall=true", "wrap", "./"+name)
		r := p.finish(cmd)
		// What stands before the arguments is of the environment, and what is behind them of files.
		shown := strings.Split(r.stdout, "|")
		if len(shown) < 5 || !strings.Contains(r.stdout, want) || !strings.HasSuffix(shown[3], "/"+shown[4]+"/mcp") ||
			strings.Contains(shown[2], shown[4]) {
			t.Errorf("%s: %q, %s", name, r.stdout, r.stderr)
		}
	}
	// What is left of one that was killed goes with the next.
	left := filepath.Join(p.path("tmp"), "thresh-*", "providers.json")
	if r := p.wrap(up, "./cline", "killed"); r.code != -1 {
		t.Errorf("status %d: %s", r.code, r.stderr)
	}
	if paths, _ := filepath.Glob(left); len(paths) != 1 {
		t.Errorf("the agent's settings are %q", paths)
	}
	p.wrap(up, "./pi")
	if paths, _ := filepath.Glob(left); len(paths) != 0 {
		t.Errorf("%q is left", paths)
	}
	// An own provider of Codex is found in its configuration, and its address becomes the upstream.
	if err := os.MkdirAll(p.path("home", ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := "model_provider = \"mine\"\n[model_providers.mine]\nbase_url = \"http://8.8.8.8/v1\" # plain\n"
	if err := os.WriteFile(p.path("home", ".codex", "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p.wrap(up, "./codex").failed(t, 1, "the configuration of codex", "proxy.upstreams.openai", "http://8.8.8.8/v1")
}

// What is known to go past the proxy is named before the agent starts, and the settings of agents that would send it
// there are read.
func TestWrapNamesWhatGoesPast(t *testing.T) {
	t.Parallel()
	up := modelapi.New(modelapi.Options{})
	defer up.Close()
	for name, tt := range map[string]struct {
		agent, file, text string
		env, args         []string
		want              string // on standard error, before the agent's "started"
	}{
		"Bedrock": {agent: "claude", env: []string{"CLAUDE_CODE_USE_BEDROCK=1"},
			want: "thresh: CLAUDE_CODE_USE_BEDROCK is set: Claude Code's requests go to Amazon Bedrock, past the proxy\n"},
		"Vertex in a file": {agent: "claude", file: "home/.claude/settings.json", text: `{"env":{"CLAUDE_CODE_USE_VERTEX":"1"}}`,
			want: "thresh: CLAUDE_CODE_USE_VERTEX is set in its settings: Claude Code's requests go to Google Vertex AI, "},
		"a login with Google": {agent: "gemini", file: "home/.gemini/settings.json",
			text: `{"security":{"auth":{"selectedType":"oauth-personal"}}}`, want: "thresh: gemini-cli is logged in with Google"},
		"no login": {agent: "gemini", want: "thresh: gemini-cli needs its login in ~/.gemini/settings.json"},
		"a shell": {agent: "sh", args: []string{"-c", "echo started >&2; : codex exec x"},
			want: "thresh: codex reads no variable with an address: start it as 'thresh wrap codex'"},
		"nothing": {agent: "claude", file: "home/.claude/settings.json", text: `{"env":{"CLAUDE_CODE_USE_VERTEX":"0"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			agent := "./" + tt.agent
			if tt.args != nil {
				agent = tt.agent
			} else if err := os.WriteFile(p.path("work", tt.agent), []byte("#!/bin/sh\necho started >&2\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			if tt.file != "" {
				if err := os.MkdirAll(filepath.Dir(p.path(tt.file)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(p.path(tt.file), []byte(tt.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := p.command(append([]string{"wrap", agent}, tt.args...)...)
			cmd.Env = append(append(cmd.Env, "ANTHROPIC_BASE_URL="+up.URL), tt.env...)
			r := p.finish(cmd)
			before, _, _ := strings.Cut(r.stderr, "started\n")
			if !strings.HasPrefix(before, tt.want) || tt.want == "" && before != "" || r.code != 0 {
				t.Errorf("status %d, %q", r.code, r.stderr)
			}
		})
	}
}

// An address in the agent's settings, which would go before the variable, is where its requests go on to.
func TestWrapReadsTheAgentsSettings(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	for path, text := range map[string]string{
		"home/.claude/settings.json": `{"env":{"ANTHROPIC_BASE_URL":"http://8.8.8.8"}}`,
		"work/codex":                 "#!/bin/sh\n", "work/claude": "#!/bin/sh\necho \"$*\"\n",
	} {
		if err := os.MkdirAll(filepath.Dir(p.path(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p.path(path), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.run("wrap", "./claude").failed(t, 1, "the configuration of claude", "http://8.8.8.8")
	r := p.run("--set", "proxy.upstreams.anthropic=http://127.0.0.1:9", "wrap", "./claude", "--version")
	if want := `--settings={"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:`; !strings.HasPrefix(r.stdout, want) || r.stderr != "" {
		t.Errorf("%q, %q", r.stdout, r.stderr)
	}
}

// A signal to thresh reaches the agent, which decides.
func TestWrapPassesSignalsOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	cmd := p.command("wrap", "sh", "-c", `trap 'echo got; exit 3' TERM; echo ready; while :; do sleep 0.05; done`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if lines.Scan(); lines.Text() != "ready" {
		t.Fatalf("printed %q", lines.Text())
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if lines.Scan(); lines.Text() != "got" {
		t.Errorf("printed %q", lines.Text())
	}
	for lines.Scan() { // to the end, before Wait closes the pipe
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("status %d", code)
	}
}

// Where thresh is killed, its agent gets the chance to end well, and ends: it could reach nothing any more.
func TestWrapTakesItsAgentAlong(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux tells a process that its parent has ended")
	}
	t.Parallel()
	p := newPlace(t)
	cmd := p.command("wrap", "sh", "-c", `trap 'echo saved; exit' TERM; echo ready; while [ ! -e end ]; do sleep 0.05; done`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.WriteFile(p.path("work", "end"), nil, 0o600) })
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	_ = cmd.Process.Kill()
	timeout := time.AfterFunc(30*time.Second, func() { _ = os.WriteFile(p.path("work", "end"), nil, 0o600) })
	defer timeout.Stop()
	if lines.Scan(); lines.Text() != "saved" {
		t.Errorf("the agent printed %q", lines.Text())
	}
	_ = cmd.Wait()
}

// An agent that handles interrupts itself, as every agent with a display does, still has its provider after them.
func TestWrapServesAfterInterrupts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	up := modelapi.New(modelapi.Options{})
	defer up.Close()
	cmd := p.command("wrap", "sh", "-c", `trap 'echo got' INT; echo "$ANTHROPIC_BASE_URL"; while [ ! -e end ] && kill -0 $PPID; do sleep 0.05; `+
		`done; exit 3`)
	cmd.Env = append(cmd.Env, "ANTHROPIC_BASE_URL="+up.URL)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	url := lines.Text()
	for range 2 { // the second is the agent's affair, too
		_ = cmd.Process.Signal(os.Interrupt)
		if lines.Scan(); lines.Text() != "got" {
			t.Errorf("the agent printed %q", lines.Text())
		}
		res, err := http.Post(url+"/v1/messages", "application/json", strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		if _ = res.Body.Close(); res.StatusCode != http.StatusOK {
			t.Errorf("status %d", res.StatusCode)
		}
	}
	if err := os.WriteFile(p.path("work", "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.HasPrefix(stderr.String(), "thresh: 2 requests") {
		t.Errorf("status %d, %s", code, stderr.String())
	}
}

// printed is a thresh wrap --print that serves at url.
type printed struct {
	cmd    *exec.Cmd
	url    string
	lines  *bufio.Scanner // what else it prints
	stderr strings.Builder
}

// printing starts thresh wrap --print before a provider.
func (p *place) printing(up *modelapi.Server, flags ...string) *printed {
	p.t.Helper()
	a := &printed{cmd: p.command(append([]string{"wrap", "--print"}, flags...)...)}
	a.cmd.Env = append(a.cmd.Env, "ANTHROPIC_BASE_URL="+up.URL, "OPENAI_API_BASE="+up.URL+"/v1")
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	a.cmd.Stderr, a.lines = &a.stderr, bufio.NewScanner(out)
	if err := a.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	a.lines.Scan()
	var ok bool
	if a.url, ok = strings.CutPrefix(a.lines.Text(), "export ANTHROPIC_BASE_URL="); !ok {
		p.t.Fatalf("printed %q", a.lines.Text())
	}
	return a
}

// hello is a request with a conversation.
const hello = `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"Hello."}],"tools":[{"name":"bash"}]}`

// Whatever variable is overwritten for the agent says where its requests go: to a host of a private network or with a
// name, too, which is no less safe than without thresh.
func TestWrapReadsWhatItOverwrites(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	up := modelapi.New(modelapi.Options{})
	defer up.Close()
	a := p.printing(up)
	res, err := http.Post(a.url+"/v1/chat/completions", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	_ = a.cmd.Process.Signal(syscall.SIGINT)
	for a.lines.Scan() {
	}
	if _ = a.cmd.Wait(); len(up.Models()) != 1 {
		t.Errorf("OPENAI_API_BASE got %d requests: %s", len(up.Models()), a.stderr.String())
	}
	for said, want := range map[string]string{
		"http://gpu-box:8000/v1": "", "http://192.168.1.5:8000/v1": "", "https://example.com/v1": "",
		"http://8.8.8.8/v1":         "OPENAI_API_BASE: ",
		"http://u:p@gpu-box/v1":     "OPENAI_API_BASE: ",
		"http://127.0.0.1:1/v1|two": "OPENAI_BASE_URL and OPENAI_API_BASE name different addresses",
	} {
		cmd := p.command("wrap", "true")
		base, two := strings.CutSuffix(said, "|two")
		if cmd.Env = append(cmd.Env, "OPENAI_API_BASE="+base); two {
			cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+up.URL+"/v1")
		}
		if r := p.finish(cmd); (r.code != 0) != (want != "") || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %d %s", said, r.code, r.stderr)
		}
	}
}

// --print serves an agent that is started elsewhere until a signal, and then says what was saved.
func TestWrapPrint(t *testing.T) {
	t.Parallel()
	newPlace(t).wrapPrint(t, "unchanged", "thresh: 1 request, 1 with a conversation; 0 of ")
}

// The agent shows the provider's errors as it likes. The last line counts them, so that what was saved is not read as
// what was paid for.
func TestWrapCountsErrors(t *testing.T) {
	t.Parallel()
	up := modelapi.New(modelapi.Options{Fault: func(n int) modelapi.Reply {
		return modelapi.Reply{Status: []int{http.StatusTooManyRequests, http.StatusUnauthorized}[n-1]}
	}})
	a := newPlace(t).printing(up)
	for _, want := range []int{http.StatusTooManyRequests, http.StatusUnauthorized, http.StatusBadGateway} {
		if want == http.StatusBadGateway {
			up.Close()
		}
		res, err := http.Post(a.url+"/v1/messages", "application/json", strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("status %d, want %d", res.StatusCode, want)
		}
	}
	_ = a.cmd.Process.Signal(syscall.SIGINT)
	for a.lines.Scan() {
	}
	_ = a.cmd.Wait()
	const says = "; 1 did not reach the provider; 2 answered with an error (the last: 401 Unauthorized)\n"
	if !strings.HasSuffix(a.stderr.String(), says) {
		t.Errorf("standard error %s", a.stderr.String())
	}
}

// distill is used unless another strategy is chosen. Here it cannot be started.
func TestWrapUsesDistill(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := os.WriteFile(filepath.Join(p.plugins, "thresh-strategy-distill"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.wrapPrint(t, "failed; sent=last-view", "distill")
	p.wrapPrint(t, "unchanged", "0 of ", "--strategy", "high-density")
}

// wrapPrint sends one request through thresh wrap --print, and wants this outcome and text on standard error.
func (p *place) wrapPrint(t *testing.T, outcome, says string, flags ...string) {
	t.Helper()
	up := modelapi.New(modelapi.Options{})
	defer up.Close()
	a := p.printing(up, flags...)
	res, err := http.Post(a.url+"/v1/messages", "application/json", strings.NewReader(hello))
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("X-Thresh-Outcome") != outcome {
		t.Errorf("%+v, %v", res, err)
	}
	res.Body.Close()
	_ = a.cmd.Process.Signal(syscall.SIGINT)
	for a.lines.Scan() {
	}
	_ = a.cmd.Wait()
	if !strings.Contains(a.stderr.String(), says) {
		t.Errorf("standard error %s", a.stderr.String())
	}
	if got := up.Requests(); len(got) != 1 || string(got[0].Body) != hello {
		t.Errorf("the provider got %d requests", len(got))
	}
}
