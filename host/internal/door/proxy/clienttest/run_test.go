package clienttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// place is where one run of an agent takes place.
type place struct{ home, project, bin string }

func newPlace(t *testing.T) place {
	t.Helper()
	p := place{t.TempDir(), t.TempDir(), t.TempDir()}
	dir, err := built()
	if err == nil {
		err = os.Link(filepath.Join(dir, "thresh"), p.thresh())
	}
	if err != nil {
		t.Fatal(err)
	}
	project(t, p.project)
	return p
}

// built is a directory with thresh, of which each place has a link.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "clienttest")
	if err == nil {
		err = binaries.Program(filepath.Join(dir, "thresh"), "host/cmd/thresh")
	}
	return dir, err
})

func TestMain(m *testing.M) {
	window.ReexecMain() // some tests have a host in this process
	status := m.Run()
	if dir, _ := built(); dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(status)
}

func (p place) thresh() string { return filepath.Join(p.bin, "thresh") }

// environ is that of an agent whose provider is at an address.
func (p place) environ(upstream string) []string {
	return append(os.Environ(), "HOME="+p.home, "XDG_CONFIG_HOME="+p.home+"/config", "XDG_DATA_HOME="+p.home+"/data",
		"XDG_STATE_HOME="+p.home+"/state", "XDG_CACHE_HOME="+p.home+"/cache", "ANTHROPIC_BASE_URL="+upstream,
		"OPENAI_BASE_URL="+upstream+"/v1", "GOOGLE_GEMINI_BASE_URL="+upstream, "NO_PROXY=127.0.0.1",
		"no_proxy=127.0.0.1")
}

// longest is how long an agent may work: one that hangs is ended, one on a loaded machine is not.
const longest = 15 * time.Minute

// ended is how a run ended.
type ended struct {
	stdout, stderr string
	err            error
}

// run runs an agent behind 'thresh SETTINGS wrap FLAGS'.
func (p place) run(t *testing.T, c client, upstream string, thresh ...string) ended {
	t.Helper()
	command := c.command(t)
	files := maps.Clone(c.files)
	for name, text := range files {
		path := filepath.Join(p.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "URL", upstream)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.thresh(), append(thresh, command...)...)
	// PWD is what a shell would set: some agents believe it rather than the directory that they are in.
	cmd.Dir, cmd.Env = p.project, append(append(p.environ(upstream), "PWD="+p.project), c.env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	// The agent is asked to end, so that thresh ends as it does for a user.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	talk := func() error { return nil }
	if c.prompts != nil {
		talk = converse(t, cmd, &out, p.project, c.prompts)
	}
	err := cmd.Run()
	return ended{out.String(), errs.String(), errors.Join(err, talk(), context.Cause(ctx))}
}

// lastLine is what thresh wrap says at the end.
func (e ended) lastLine() string {
	lines := strings.TrimSpace(e.stderr)
	return lines[strings.LastIndexByte(lines, '\n')+1:]
}

// check fails the test unless an agent did its work, left no process behind, and the provider refused nothing.
func (e ended) check(t *testing.T, p place, up *modelapi.Server) {
	t.Helper()
	if e.err != nil || !fixed(t, p.project) {
		t.Errorf("%v; the project is fixed: %v\n%s\n%s", e.err, fixed(t, p.project), tail(e.stdout), tail(e.stderr))
	}
	if refused := up.Refused(); len(refused) > 0 {
		t.Errorf("refused: %q", refused)
	}
	if len(up.Models()) == 0 {
		t.Error("no request to the model")
	}
	// A process of the run has its home, whatever its parent is. Next to a wrapped run, it would serve a later one with
	// the address of a proxy that has ended.
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environs) == 0 {
		t.Fatal(environs, err)
	}
	for _, path := range environs {
		if env, err := os.ReadFile(path); err == nil && bytes.Contains(env, []byte("HOME="+p.home+"\x00")) {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			t.Errorf("left: %q", bytes.Split(command, []byte{0}))
		}
	}
	if found, err := filepath.Glob(p.home + "/.cline/data/locks/*/*"); err != nil || len(found) > 0 {
		t.Errorf("left: %q, %v", found, err)
	}
}

func tail(s string) string { return s[max(0, len(s)-3000):] }

// numbered is the header by which a recorder tells which of its requests reached the provider.
const numbered = "X-Test-Request"

// recorder is a proxy in this process that keeps the bodies that reach it.
type recorder struct {
	*httptest.Server
	proxy *proxy.Server
	kept  store.Store

	mu     sync.Mutex
	bodies [][]byte
}

// record starts a recorder before a model server.
func record(t *testing.T, p place, upstream string, settings map[string]any) *recorder {
	t.Helper()
	o := config.Options{WorkDir: p.project, Env: []string{}}
	o.Overrides = append(o.Overrides, config.Override{Key: "plugins.dirs", Value: []string{}, Source: "test"})
	for key, value := range settings {
		o.Overrides = append(o.Overrides, config.Override{Key: key, Value: value, Source: "test"})
	}
	c, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	h, err := window.Open(window.Options{Config: c, Logger: hclog.NewNullLogger(), Store: store.NewMemory()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	address := func(path string) *url.URL {
		u, err := url.Parse(upstream + path)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	r := &recorder{kept: h.Store(), proxy: proxy.New(proxy.Options{Host: h, Client: "anthropic", Logger: hclog.NewNullLogger(),
		Upstreams: proxy.Upstreams{Anthropic: address(""), OpenAI: address("/v1"), Gemini: address("")}})}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(func() { r.Close(); r.proxy.Close() })
	return r
}

func (r *recorder) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	req.Header.Set(numbered, strconv.Itoa(len(r.bodies)))
	r.bodies = append(r.bodies, body)
	r.mu.Unlock()
	req.Body = io.NopCloser(bytes.NewReader(body))
	r.proxy.ServeHTTP(w, req)
}

// client returns the body that the agent sent for a request that the provider got.
func (r *recorder) client(t *testing.T, got *modelapi.Request) []byte {
	t.Helper()
	n, err := strconv.Atoi(got.Header.Get(numbered))
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || n >= len(r.bodies) {
		t.Fatalf("a request that no agent sent: %v", got.Header)
	}
	return r.bodies[n]
}
