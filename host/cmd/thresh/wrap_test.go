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

// wrapped is a thresh wrap, whose standard output is read line by line.
type wrapped struct {
	t      testing.TB
	cmd    *exec.Cmd
	lines  *bufio.Scanner
	stderr strings.Builder // complete after the end
	url    string          // where --print serves
}

// wrap starts thresh wrap.
func (p *place) wrap(args ...string) *wrapped {
	p.t.Helper()
	return p.wrapping(p.command(append([]string{"wrap"}, args...)...))
}

func (p *place) wrapping(cmd *exec.Cmd) *wrapped {
	p.t.Helper()
	w := &wrapped{t: p.t, cmd: cmd}
	out, err := cmd.StdoutPipe()
	if cmd.Stderr = &w.stderr; err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = cmd.Process.Kill() })
	w.lines = bufio.NewScanner(out)
	return w
}

// prints fails the test unless this is the next line.
func (w *wrapped) prints(want string) {
	w.t.Helper()
	if w.lines.Scan(); w.lines.Text() != want {
		w.t.Fatalf("printed %q, want %q", w.lines.Text(), want)
	}
}

// wait waits for the end, and returns the exit status.
func (w *wrapped) wait() int {
	for w.lines.Scan() { // before Wait closes the pipe
	}
	_ = w.cmd.Wait()
	return w.cmd.ProcessState.ExitCode()
}

// printing starts thresh wrap --print before a provider.
func (p *place) printing(up *modelapi.Server, flags ...string) *wrapped {
	p.t.Helper()
	cmd := p.command(append([]string{"wrap", "--print"}, flags...)...)
	cmd.Env = append(cmd.Env, "ANTHROPIC_BASE_URL="+up.URL, "OPENAI_API_BASE="+up.URL+"/v1")
	w := p.wrapping(cmd)
	w.lines.Scan()
	var ok bool
	if w.url, ok = strings.CutPrefix(w.lines.Text(), "export ANTHROPIC_BASE_URL="); !ok {
		p.t.Fatalf("printed %q", w.lines.Text())
	}
	return w
}

// interrupt ends it, and returns what it wrote to standard error.
func (w *wrapped) interrupt() string {
	_ = w.cmd.Process.Signal(syscall.SIGINT)
	w.wait()
	return w.stderr.String()
}

// hello is a request with a conversation.
const hello = `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"Hello."}],"tools":[{"name":"bash"}]}`

// post sends a request through the proxy, and returns the status and the outcome of the turn.
func (w *wrapped) post(path, body string) (status int, outcome string) {
	w.t.Helper()
	res, err := http.Post(w.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode, res.Header.Get("X-Thresh-Outcome")
}

// --print serves an agent that is started elsewhere until a signal, each API at the address that its variable named,
// and then says what was saved, and how many requests failed: what was saved is not what was paid for.
func TestWrapPrint(t *testing.T) {
	t.Parallel()
	up := modelapi.New(modelapi.Options{Fault: func(n int) modelapi.Reply {
		return modelapi.Reply{Status: []int{0, 0, http.StatusTooManyRequests, http.StatusUnauthorized}[n-1]}
	}})
	w := newPlace(t).printing(up)
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests, http.StatusUnauthorized,
		http.StatusBadGateway} {
		if want == http.StatusBadGateway {
			up.Close()
		}
		path := []string{"/v1/messages", "/v1/chat/completions"}[i%2]
		if status, outcome := w.post(path, hello); status != want || outcome != "unchanged" {
			t.Errorf("request %d: status %d, %s", i, status, outcome)
		}
	}
	const begins, ends = "\nthresh: 5 requests, 5 with a conversation; 0 of ",
		"; 1 did not reach the provider; 2 answered with an error (the last: 401 Unauthorized)\n"
	if says := w.interrupt(); !strings.Contains(says, begins) || !strings.HasSuffix(says, ends) {
		t.Errorf("standard error %s", says)
	}
	if got := up.Requests(); len(got) != 4 || string(got[0].Body) != hello {
		t.Errorf("the provider got %d requests", len(got))
	}
}

// For a known agent, --print says all that the agent would get, and which flags stand where an agent would get them.
func TestWrapPrintsForAnAgent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for name, want := range map[string]string{
		"claude":   "export ENABLE_TOOL_SEARCH=true",
		"codex":    "# codex needs these arguments: '-c' 'openai_base_url=\"http://127.0.0.1:",
		"opencode": `"model":"don\u0027t","provider":`,
	} {
		cmd := p.command("wrap", "--print", name, "--set", "model.contextLimit=1000", "--resume")
		cmd.Env = append(cmd.Env, `OPENCODE_CONFIG_CONTENT={"model":"don't"}`)
		w := p.wrapping(cmd)
		for w.lines.Scan() && (strings.HasPrefix(w.lines.Text(), "export ANTHROPIC_BASE_URL=") ||
			strings.HasPrefix(w.lines.Text(), "export THRESH_MCP_")) {
		}
		if got := w.lines.Text(); !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
		if says := w.interrupt(); !strings.Contains(says, "--set stands after the agent's name") ||
			strings.Contains(says, "--resume") {
			t.Errorf("%s: standard error %s", name, says)
		}
	}
}

// distill is used unless another strategy is chosen. Here it cannot be started.
func TestWrapUsesDistill(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := os.WriteFile(p.pluginFile("distill"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	up := modelapi.New(modelapi.Options{})
	defer up.Close()
	w := p.printing(up)
	status, outcome := w.post("/v1/messages", hello)
	if says := w.interrupt(); status != http.StatusOK || outcome != "failed; sent=last-view" ||
		!strings.Contains(says, "distill") {
		t.Errorf("%d %s: %s", status, outcome, says)
	}
}

// A signal to thresh reaches the agent, which decides.
func TestWrapPassesSignalsOn(t *testing.T) {
	t.Parallel()
	w := newPlace(t).wrap("sh", "-c", `trap 'echo got; exit 3' TERM; echo ready; while :; do sleep 0.05; done`)
	w.prints("ready")
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	w.prints("got")
	if code := w.wait(); code != 3 {
		t.Errorf("status %d", code)
	}
}

// Where thresh is killed, its agent gets the chance to end well, and ends: it could reach nothing any more. The files
// that were written for it go with the next thresh wrap.
func TestWrapTakesItsAgentAlong(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only Linux tells a process that its parent has ended")
	}
	t.Parallel()
	p := newPlace(t)
	agent := "#!/bin/sh\ntrap 'echo saved; exit' TERM\necho ready\nwhile [ ! -e end ]; do sleep 0.05; done\n"
	if err := os.WriteFile(p.path("work", "pi"), []byte(agent), 0o700); err != nil {
		t.Fatal(err)
	}
	end := func() { p.file("end", "") }
	left := func() int {
		files, _ := filepath.Glob(p.path("tmp", "thresh-*", "*"))
		return len(files)
	}
	w := p.wrap("./pi")
	w.prints("ready")
	_ = w.cmd.Process.Kill()
	timeout := time.AfterFunc(patience, end)
	w.prints("saved")
	timeout.Stop()
	if w.wait(); left() == 0 {
		t.Error("no file was written for the agent")
	}
	end()
	if p.wrap("./pi").wait(); left() != 0 {
		t.Errorf("%d files are left", left())
	}
}

// An agent that handles interrupts itself, as every agent with a display does, still has its provider after them.
func TestWrapServesAfterInterrupts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	up := modelapi.New(modelapi.Options{})
	defer up.Close()
	cmd := p.command("wrap", "sh", "-c", `trap 'echo got' INT; echo "$ANTHROPIC_BASE_URL"; `+
		`while [ ! -e end ] && kill -0 $PPID; do sleep 0.05; done; exit 3`)
	cmd.Env = append(cmd.Env, "ANTHROPIC_BASE_URL="+up.URL)
	w := p.wrapping(cmd)
	w.lines.Scan()
	w.url = w.lines.Text()
	for range 2 { // the second is the agent's affair, too
		_ = w.cmd.Process.Signal(os.Interrupt)
		w.prints("got")
		if status, _ := w.post("/v1/messages", hello); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	p.file("end", "")
	if code := w.wait(); code != 3 || !strings.HasPrefix(w.stderr.String(), "thresh: 2 requests") {
		t.Errorf("status %d, %s", code, w.stderr.String())
	}
}
