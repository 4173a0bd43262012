package clienttest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/procs"
)

// recorder is a proxy in this process that keeps the bodies that reach it.
type recorder struct {
	*httptest.Server
	proxy *proxy.Server

	mu     sync.Mutex
	bodies [][]byte
}

// record starts a recorder before a model server.
func record(t *testing.T, p place, upstream string, settings map[string]any) *recorder {
	t.Helper()
	o := config.Options{WorkDir: p.project, Env: []string{}}
	o.Overrides = append(o.Overrides, config.Override{Key: "plugins.dirs",
		Value: []string{filepath.Join(p.bin, "plugins")}, Source: "test"})
	for key, value := range settings {
		o.Overrides = append(o.Overrides, config.Override{Key: key, Value: value, Source: "test"})
	}
	c, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	h, err := engine.Open(engine.Options{Config: c, Logger: hclog.NewNullLogger()})
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
	r := &recorder{proxy: proxy.New(proxy.Options{Host: h, Logger: hclog.NewNullLogger(),
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
	r.bodies = append(r.bodies, body)
	r.mu.Unlock()
	req.Body = io.NopCloser(bytes.NewReader(body))
	r.proxy.ServeHTTP(w, req)
}

// Every byte that was not edited is the agent's, and what was sent is sent again until a rewrite. The agent's own bytes
// come through a dry run, which changes nothing.
func TestEveryByteButTheEditsIsTheAgents(t *testing.T) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			installed(t, c.program)
			p := newPlace(t)
			up := modelapi.New(modelapi.Options{Script: modelapi.LongFix(10), Dir: p.project})
			defer up.Close()
			r := record(t, p, up.URL, map[string]any{"compression.density.cadence": "every-turn",
				"model.contextLimit": 30_000, "model.completionBudget": 1, "compression.preserveThreshold": 0.2})
			p.run(t, c, r.URL, []string{"wrap", "--dry-run"}).check(t, p, up)
			sent := up.Requests()
			if len(sent) != len(r.bodies) {
				t.Fatalf("the agent sent %d requests, the provider got %d", len(r.bodies), len(sent))
			}
			edited, breaks := 0, 0
			var last []byte
			for i, s := range sent {
				if !s.Model {
					if !bytes.Equal(s.Body, r.bodies[i]) {
						t.Errorf("request %d has no tools, and was changed", i)
					}
					continue
				}
				if err := modelapi.OnlyEdits(r.bodies[i], s.Body); err != nil {
					t.Errorf("request %d: %v", i, err)
				}
				if !bytes.Equal(s.Body, r.bodies[i]) {
					edited++
				}
				if last != nil && !modelapi.Continues(last, s.Body) {
					breaks++
				}
				last = s.Body
			}
			totals := r.proxy.Totals()
			if edited == 0 || breaks > totals.Rewrites || totals.Failed > 0 {
				t.Errorf("%d requests were edited, the beginning changed %d times; %+v", edited, breaks, totals)
			}
		})
	}
}

// Where an agent compacts its history by itself, it does not through thresh.
func TestNoCompactionOfTheAgent(t *testing.T) {
	for _, c := range clients {
		if c.scale == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			installed(t, c.program)
			compactions := func(through []string) (n int) {
				p := newPlace(t)
				up := modelapi.New(modelapi.Options{Script: modelapi.LongFix(16), Dir: p.project, Scale: c.scale})
				defer up.Close()
				e := p.run(t, c, up.URL, through, c.compacts...)
				if through != nil {
					e.check(t, p, up)
				}
				for _, r := range up.Requests() {
					if r.Compacts {
						n++
					}
				}
				return n
			}
			if n := compactions(nil); n == 0 {
				t.Fatal("the control run does not compact")
			}
			if n := compactions([]string{"--set", fmt.Sprintf("model.contextLimit=%d", c.limit), "--set",
				"model.completionBudget=1", "--set", "compression.preserveThreshold=0.2", "wrap"}); n > 0 {
				t.Errorf("%d compactions", n)
			}
		})
	}
}

// The strategy is killed at each turn: the agent finishes all the same.
func TestAPluginThatIsKilledCostsNoTurn(t *testing.T) {
	for _, c := range clients[:2] {
		t.Run(c.name, func(t *testing.T) {
			installed(t, c.program)
			p := newPlace(t)
			killed := 0
			up := modelapi.New(modelapi.Options{Script: modelapi.FixIt(), Dir: p.project,
				Fault: func(int) modelapi.Fault {
					for pid := range procs.Running(filepath.Join(p.bin, "plugins")) {
						_ = syscall.Kill(pid, syscall.SIGKILL)
						killed++
					}
					return modelapi.Fault{}
				}})
			defer up.Close()
			p.run(t, c, up.URL, []string{"--set", "plugins.isolation=off", "wrap"}).check(t, p, up)
			if killed < 3 {
				t.Errorf("only %d processes were killed", killed)
			}
		})
	}
}
