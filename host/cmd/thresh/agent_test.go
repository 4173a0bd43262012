package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// agent is an agent that talks to 'thresh run'.
type agent struct {
	*place
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr stream

	mu      sync.Mutex
	replies []reply
	ended   bool
	next    int
}

// stream is what a command wrote so far.
type stream struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *stream) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// reply is one message of thresh.
type reply struct {
	Version string `json:"jsonrpc"`
	ID      json.RawMessage
	Result  json.RawMessage
	Error   *rpcError
}

type rpcError struct {
	Code    int
	Message string
	Data    struct {
		Kind, Plugin  string
		Retryable     bool
		MissingTokens int
		Entry         *int
		Prepared      *prepared
	}
}

func (e *rpcError) Error() string { return e.Message }

type prepared struct {
	History  []object
	Tokens   int
	Revision int
	Outcome  object
}

// opened is the reply to session.open.
type opened struct {
	Session                   string
	Revision, Tokens, Entries int
}

// serve starts 'thresh run', race detector included.
func (p *place) serve(args ...string) *agent {
	p.t.Helper()
	p.program = "thresh-race"
	return p.talk(p.command(append([]string{"run"}, args...)...))
}

// talk starts a command that is 'thresh run' in the end.
func (p *place) talk(cmd *exec.Cmd) *agent {
	p.t.Helper()
	a := &agent{place: p, cmd: cmd, next: 1}
	stdin, err := a.cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	stdout, err := a.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	a.stdin, a.stdout, a.cmd.Stderr = stdin, stdout, &a.stderr
	if err := a.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = a.cmd.Process.Kill(); _ = a.cmd.Wait() })
	go a.read(stdout)
	return a
}

// read collects messages. Anything else on standard output fails the test.
func (a *agent) read(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r reply
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&r); err != nil || r.Version != "2.0" || r.ID == nil ||
			(r.Result == nil) == (r.Error == nil) {
			a.t.Errorf("on standard output: %v: %.300s", err, lines.Text())
			continue
		}
		a.mu.Lock()
		a.replies = append(a.replies, r)
		a.mu.Unlock()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
}

// raw writes bytes as they are.
func (a *agent) raw(text string) {
	a.t.Helper()
	if _, err := io.WriteString(a.stdin, text); err != nil {
		a.t.Fatal(err)
	}
}

// send sends a request and returns its id.
func (a *agent) send(method string, params any) int {
	a.t.Helper()
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.next, "method": method, "params": params})
	if err != nil {
		a.t.Fatal(err)
	}
	a.raw(string(text) + "\n")
	a.next++
	return a.next - 1
}

// wait waits for the reply to a request.
func (a *agent) wait(id int) reply {
	a.t.Helper()
	return a.waitFor(fmt.Sprint(id))
}

func (a *agent) waitFor(id string) reply {
	a.t.Helper()
	var found reply
	if !eventually(patience, func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		i := slices.IndexFunc(a.replies, func(r reply) bool { return string(r.ID) == id })
		if i >= 0 {
			found = a.replies[i]
		}
		return i >= 0 || a.ended
	}) || found.ID == nil {
		a.t.Fatalf("no reply to %s", id)
	}
	return found
}

// answers are the ids of the replies so far.
func (a *agent) answers() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var ids []string
	for _, r := range a.replies {
		ids = append(ids, string(r.ID))
	}
	return ids
}

// call sends a request and waits for its result, which it stores in result.
func (a *agent) call(method string, params, result any) {
	a.t.Helper()
	a.result(a.send(method, params), result)
}

func (a *agent) result(id int, result any) {
	a.t.Helper()
	r := a.wait(id)
	if r.Error != nil {
		a.t.Fatalf("request %d: %+v", id, r.Error)
	}
	if result != nil {
		if err := json.Unmarshal(r.Result, result); err != nil {
			a.t.Fatal(err)
		}
	}
}

// refused sends a request and waits for an error of the code whose message says all that is wanted.
func (a *agent) refused(code int, method string, params any, want ...string) *rpcError {
	a.t.Helper()
	return a.refusal(a.wait(a.send(method, params)), code, want...)
}

func (a *agent) refusal(r reply, code int, want ...string) *rpcError {
	a.t.Helper()
	if r.Error == nil {
		a.t.Fatalf("no error but %.300s", r.Result)
	}
	if r.Error.Code != code {
		a.t.Errorf("code %d, want %d (%s)", r.Error.Code, code, r.Error.Message)
	}
	for _, w := range want {
		if !strings.Contains(r.Error.Message, w) {
			a.t.Errorf("no %q in %q", w, r.Error.Message)
		}
	}
	return r.Error
}

// open opens a session with settings and returns its id.
func (a *agent) open(id string, settings object) string {
	a.t.Helper()
	var r struct{ Session string }
	params := object{"settings": settings}
	if id != "" {
		params["id"] = id
	}
	a.call("session.open", params, &r)
	return r.Session
}

func (a *agent) prepare(session string) prepared {
	a.t.Helper()
	var p prepared
	a.call("window.prepare", object{"session": session}, &p)
	return p
}

// end ends the input, waits for thresh to end, and checks that it ended well with no process left.
func (a *agent) end() {
	a.t.Helper()
	_ = a.stdin.Close()
	a.exits(0)
}

// signal sends a signal to the whole process group, as a terminal does.
func (a *agent) signal(sig syscall.Signal) {
	a.t.Helper()
	if err := syscall.Kill(-a.cmd.Process.Pid, sig); err != nil {
		a.t.Fatal(err)
	}
}

func (a *agent) exits(code int) {
	a.t.Helper()
	stop := time.AfterFunc(patience, func() { _ = syscall.Kill(a.cmd.Process.Pid, syscall.SIGQUIT) })
	defer stop.Stop()
	if !eventually(patience+5*time.Second, func() bool { a.mu.Lock(); defer a.mu.Unlock(); return a.ended }) {
		a.t.Error("standard output is still open")
	}
	_ = a.cmd.Wait()
	if got := a.cmd.ProcessState.ExitCode(); got != code {
		a.t.Errorf("exit status %d, want %d:\n%s", got, code, a.stderr.String())
	}
	a.calm(a.stderr.String())
	a.alone()
}

// says is an entry of one text block.
func says(speaker, text string) object {
	return object{"speaker": speaker, "blocks": []any{object{"type": "text", "text": text}}}
}

// texts are the first texts of entries.
func texts(history []object) []string {
	var out []string
	for _, e := range history {
		text := ""
		if blocks, _ := e["blocks"].([]any); len(blocks) > 0 {
			text, _ = blocks[0].(object)["text"].(string)
		}
		out = append(out, text)
	}
	return out
}

// with returns params with further ones.
func with(params object, more object) object {
	out := maps.Clone(params)
	maps.Copy(out, more)
	return out
}
