package main_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/content"
)

// server is a thresh that serves.
type server struct {
	t       testing.TB
	cmd     *exec.Cmd
	address string
	proxy   string // the address of the proxy, if there is one
	token   string // the file
	log     *serveLog
}

// serveLog is what a server writes to standard error.
type serveLog struct {
	mu   sync.Mutex
	text strings.Builder
	done chan struct{} // closed when nothing more comes
}

func (l *serveLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// serveNetwork starts thresh serve, and waits until it is ready.
func (p *place) serveNetwork(args ...string) *server {
	p.t.Helper()
	return p.listening(p.command(append([]string{"serve"}, args...)...))
}

// listening starts a command that is thresh serve in the end.
func (p *place) listening(cmd *exec.Cmd) *server {
	p.t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	s := &server{t: p.t, cmd: cmd, token: p.path("home", ".local", "state", "thresh", "token"),
		log: &serveLog{done: make(chan struct{})}}
	p.t.Cleanup(func() { _ = cmd.Process.Kill() })
	ready := make(chan string, 1)
	go func() {
		defer close(s.log.done)
		for r := bufio.NewReader(stderr); ; {
			line, err := r.ReadString('\n')
			s.log.mu.Lock()
			s.log.text.WriteString(line)
			s.log.mu.Unlock()
			// Said before the address of the service.
			if _, proxy, ok := strings.Cut(line, "thresh: proxy at "); ok {
				s.proxy = strings.TrimSpace(proxy)
			}
			if _, address, ok := strings.Cut(line, "serving at "); ok {
				address, _, _ = strings.Cut(address, `"`) // the rest of a line of JSON
				ready <- strings.TrimSpace(address)
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case s.address = <-ready:
	case <-s.log.done:
		p.t.Fatalf("it ended: %s", s.log)
	}
	return s
}

// says waits until the log has a text.
func (s *server) says(text string) {
	s.t.Helper()
	if !eventually(patience, func() bool { return strings.Contains(s.log.String(), text) }) {
		s.t.Errorf("the log has no %q:\n%s", text, s.log)
	}
}

func (s *server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// end sends a signal, and returns what was logged. The server must end well.
func (s *server) end(sig syscall.Signal) string {
	s.t.Helper()
	s.signal(sig)
	return s.ended()
}

// ended waits for the end of a server, which must be a good one, and returns what was logged.
func (s *server) ended() string {
	s.t.Helper()
	<-s.log.done
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("%v: %s", err, s.log)
	}
	return s.log.String()
}

// local is the local user's token.
func (s *server) local() string {
	s.t.Helper()
	token, err := os.ReadFile(s.token)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(token))
}

// client is a client with the local user's token.
func (s *server) client() *client.Client { return s.connect(s.local()) }

// connect makes a client with a token; "" for none.
func (s *server) connect(token string) *client.Client {
	s.t.Helper()
	c, err := client.New(s.address, client.Options{Token: token})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

// agent runs one of the agents in examples/service, which are in other languages.
func (s *server) agent(program, file string, args ...string) string {
	s.t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		s.t.Skipf("SKIPPED: %s is not installed, so its client is not tested", program)
	}
	file = repo.Path(s.t) + "/examples/service/" + file
	cmd := exec.Command(program, append([]string{file, s.address, s.token}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", file, err, out)
	}
	return string(out)
}

var agents = map[string]string{"python3": "agent.py", "node": "agent.mjs"}

// explains are programs that print how many changes were made in a session, with the root of the repository, the
// address, the file of the token and the session as arguments.
var explains = map[string][]string{
	"python3": {"-c", `import sys
root, address, file, session = sys.argv[1:]
sys.path.insert(0, root + "/clients/python")
from thresh import Client
with Client(address, open(file).read().strip()) as c: print(len(c.open(session).explain()))`},
	"node": {"--input-type=module", "-e", `import { readFileSync } from "node:fs";
const [root, address, file, session] = process.argv.slice(1);
const { Client } = await import(root + "/clients/typescript/thresh.mjs");
const c = new Client(address, { token: readFileSync(file, "utf8").trim() });
console.log((await (await c.open(session)).explain()).length);
c.disconnect();`},
}

func TestAgentsInOtherLanguagesOnOneService(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.serveNetwork("--set", "serve.listen=127.0.0.1:0", "--strategy", "high-density")
	for program, file := range agents {
		t.Run(program, func(t *testing.T) {
			of := *s
			of.t = t
			first := of.agent(program, file, program, "4")
			second := of.agent(program, file, program, "2") // goes on
			if strings.Count(first, "\n") != 4 || !strings.Contains(second, "step  5: send") ||
				strings.Contains(second, "step  4") {
				t.Errorf("%s---\n%s", first, second)
			}
			// A request has one reading of the file, of 1,200 tokens, however many there were.
			if regexp.MustCompile(`[2-9]\d\d\d tokens`).MatchString(first + second) {
				t.Errorf("nothing was pruned:\n%s%s", first, second)
			}
			// What was done, and what was removed, can be asked for over the service and from the store.
			session, err := s.client().Open(t.Context(), api.OpenRequest{ID: program})
			if err != nil {
				t.Fatal(err)
			}
			explained, err := session.Explain(t.Context(), api.ExplainRequest{})
			changes := explained.Changes
			if err != nil || len(changes) == 0 || changes[0].Kind != outcome.Removed || changes[0].Rule == "" {
				t.Fatalf("%+v, %v", changes, err)
			}
			args := append(slices.Clone(explains[program]), repo.Path(t), strings.TrimPrefix(s.address, "http://"),
				s.token, program)
			if out, err := exec.Command(program, args...).CombinedOutput(); err != nil ||
				strings.TrimSpace(string(out)) != fmt.Sprint(len(changes)) {
				t.Errorf("%s, %v, want %d", out, err, len(changes))
			}
			for _, tt := range []struct{ command, want string }{
				{"explain --only removed -o json --session " + program, `"rule":"` + changes[0].Rule + `"`},
				{"sessions show " + program + " --entry " + changes[0].EntryID, "read_file"},
				{"sessions show " + program + " --entry " + changes[1].EntryID, "func handle"},
			} {
				if out := p.beside(strings.Fields(tt.command)...); !strings.Contains(out, tt.want) {
					t.Errorf("%s: %s", tt.command, out)
				}
			}
		})
	}
	log := s.end(syscall.SIGTERM)
	if !strings.Contains(log, "method=/v1/window.prepare outcome=ok") ||
		strings.Contains(log, "replaced 1 occurrence") {
		t.Errorf("the log:\n%s", log)
	}
}

// A service over a Unix socket, which only its user reaches, and its proxy keep sessions in one store. Killed and
// started again, it goes on with them, and its clients without opening theirs again.
func TestServeOverAUnixSocket(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := p.path("work", "t.sock")
	up := modelapi.New(modelapi.Options{})
	defer up.Close()
	args := []string{"--set", "serve.listen=unix:" + path, "--set", "proxy.listen=127.0.0.1:0",
		"--set", "proxy.upstreams.anthropic=" + up.URL}
	s := p.serveNetwork(args...)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	ask := func(messages string) {
		t.Helper()
		if status, text := fetch(t, s.proxy+"/v1/messages", "", `{"model":"m","max_tokens":9,"messages":[`+messages+
			`],"tools":[{"name":"t","input_schema":{"type":"object"}}]}`, "X-Thresh-Session", "of-an-agent"); status != 200 {
			t.Errorf("through the proxy: %d %s", status, text)
		}
	}
	const begin = `{"role":"user","content":"x"}`
	ask(begin)
	c := s.connect("")
	session, err := c.Open(t.Context(), api.OpenRequest{ID: "chat", System: api.Prompt(content.Text{Text: "be brief"})})
	if err != nil {
		t.Fatal(err)
	}
	var prepared [][]content.Content
	for n := range 3 { // the second and third time, only what is new travels
		if _, err := session.Add(t.Context(), api.Entries(words(fmt.Sprint("hello ", n)))); err != nil {
			t.Fatal(err)
		}
		ready, err := session.Prepare(t.Context(), api.PrepareRequest{PendingTokens: 10})
		if err != nil || len(ready.History) != n+1 || ready.Outcome.Strategy != "distill" {
			t.Fatalf("%+v, %v", ready, err)
		}
		// What a caller appends is its own, and what it was given stays as it was.
		_ = append(ready.History, words("mine"))
		prepared = append(prepared, ready.History)
	}
	for n, history := range prepared {
		for i, e := range history {
			if got := e.Blocks[0].(content.Text).Text; got != fmt.Sprint("hello ", i) {
				t.Errorf("prepared %d, entry %d: %q", n, i, got)
			}
		}
	}
	before, err := session.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s = p.serveNetwork(args...)
	if after, err := session.State(t.Context()); err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("before %+v, after %+v, %v", before, after, err)
	}
	if _, err := session.Add(t.Context(), api.Entries(words("more"))); err != nil {
		t.Error(err)
	}
	ask(begin + `,{"role":"assistant","content":"y"},{"role":"user","content":"z"}`)
	if err := c.Delete(t.Context(), api.Of{Session: "chat"}); err != nil {
		t.Error(err)
	}
	var gone *api.Error
	if _, err := session.State(t.Context()); !errors.As(err, &gone) || gone.Kind != "session" {
		t.Errorf("deleted: %v", err)
	}
	s.end(syscall.SIGINT)
	if r := p.run("sessions", "list"); !regexp.MustCompile(`(?m)^of-an-agent +- +3 `).MatchString(r.stdout) ||
		strings.Count(r.stdout, "of-an-agent") != 1 || strings.Contains(r.stdout, "chat") {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
}

func TestHangupReloadsTheConfiguration(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"", "nohup"} {
		t.Run(start, func(t *testing.T) {
			t.Parallel()
			hangupReloads(t, start)
		})
	}
}

func hangupReloads(t *testing.T, start string) {
	p := newPlace(t)
	file := p.file("s.yaml", "model: {contextLimit: 5000}\n")
	cmd := p.command("serve", "--config", file, "--set", "serve.listen=127.0.0.1:0")
	if start != "" {
		cmd.Args = append([]string{start, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/usr/bin/" + start
	}
	s := p.listening(cmd)
	limit := func() int {
		t.Helper()
		ready, err := s.session(api.OpenRequest{}).Prepare(t.Context(), api.PrepareRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return ready.Outcome.Limits.Context
	}
	hangup := func(text string, want int) {
		t.Helper()
		p.file("s.yaml", text)
		s.signal(syscall.SIGHUP)
		if !eventually(patience, func() bool { return limit() == want }) {
			t.Errorf("with %q the limit is not %d", text, want)
		}
	}
	hangup("model: {contextLimit: 6000}\n", 6000)
	hangup("model: {contextLimit: 7000}\nplugins: {maxCrashes: 9}\nsessions: {keep: 720h}\n", 6000)
	s.says("reload: sessions.keep, plugins.maxCrashes cannot be changed while the host runs: restart it")
	hangup("model: {contextLimit: 8000}\n", 8000)
	s.end(syscall.SIGTERM)
}

func TestServingOtherMachinesNeedsTLS(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.run("serve", "--set", "serve.listen=0.0.0.0:0").failed(t, 1, "serve.tls.cert", "--insecure")
	s := p.serveNetwork("--insecure", "--set", "serve.listen=0.0.0.0:0")
	s.address = strings.Replace(s.address, "[::]", "127.0.0.1", 1)
	// Plain text does not make the token unnecessary.
	var refused *api.Error
	if _, err := s.connect("").Open(t.Context(), api.OpenRequest{}); !errors.As(err, &refused) ||
		refused.Kind != "access" {
		t.Errorf("without a token: %v", err)
	}
	if log := s.end(syscall.SIGTERM); !strings.Contains(log, "warning: --insecure") {
		t.Errorf("the log:\n%s", log)
	}
	if _, err := os.Stat(s.token); !os.IsNotExist(err) {
		t.Errorf("the local user's token is for this machine alone: %v", err)
	}
}
