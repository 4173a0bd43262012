package main_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// measured starts 'thresh run' with metrics at a port that is free, and returns where they are. Standard error is a
// file, to be read while it runs.
func (p *place) measured(args ...string) (a *agent, url string) {
	p.t.Helper()
	p.program = "thresh-race"
	run := p.command()
	cmd := exec.Command("/bin/sh", append([]string{"-c", `exec "$0" "$@" 2>stderr.txt`, filepath.Join(bin, p.program),
		"run"}, args...)...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = run.Dir, run.Env, run.SysProcAttr
	a = p.talk(cmd)
	if !eventually(patience, func() bool {
		line, _, ended := strings.Cut(p.read("stderr.txt"), "\n")
		url = strings.TrimPrefix(line, "thresh: metrics at ")
		return ended
	}) || !strings.HasPrefix(url, "http://127.0.0.1:") {
		p.t.Fatalf("no address on standard error: %q", p.read("stderr.txt"))
	}
	return a, url
}

// read returns a file of the working directory, "" if it is not there.
func (p *place) read(name string) string {
	text, _ := os.ReadFile(p.path("work", name))
	return string(text)
}

// scrape asks for metrics as Prometheus does.
func scrape(t *testing.T, url string) string {
	t.Helper()
	r, err := (&http.Client{Transport: &http.Transport{}}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v\n%s", r.Status, err, text)
	}
	return string(text)
}

func TestRunServesMetrics(t *testing.T) {
	race.Watch(t)
	t.Parallel()
	p := newPlace(t, "exits-at-start")
	a, url := p.measured("--set", "metrics.listen=127.0.0.1:0")
	s := a.open("s3cr3t", object{"workspace.root": "/w", "compression.strategy": "high-density"})
	a.call("history.add", object{"session": s, "entries": parseJSON[any](t, pruning)}, nil)
	a.call("history.add", object{"session": s, "entries": []object{says("human", "the password is s3cr3t")}}, nil)
	a.prepare(s)
	a.prepare(s)
	a.refused(-32000, "session.open", object{"settings": object{"compression.strategy": "s3cr3t"}}, "s3cr3t")
	a.open("lost", object{"compression.strategy": "exits-at-start"})
	a.refused(-32000, "window.prepare", object{"session": "lost"}, "exits-at-start")
	a.call("session.close", object{"session": "lost"}, nil)
	text := scrape(t, url)
	for _, want := range []string{
		`thresh_turns_total{outcome="ok",strategy="high-density"} 2`,
		`thresh_turns_total{outcome="error",strategy="exits-at-start"} 1`,
		`thresh_optimize_runs_total{reason="clean",result="skipped",strategy="high-density"} 1`,
		`thresh_plugin_call_duration_seconds_count{call="optimize",strategy="high-density"} 1`,
		`thresh_plugin_state{state="ready",strategy="high-density"} 1`,
		`thresh_sessions 1`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, want := range []string{"go_goroutines", "process_open_fds", "process_resident_memory_bytes"} {
		if runtime.GOOS == "linux" && !strings.Contains(text, "\n"+want+" ") {
			t.Errorf("nothing says how much the process takes: no %s", want)
		}
	}
	if !strings.Contains(text, `thresh_tokens_saved_total{step="optimize",strategy="high-density"} `) {
		t.Errorf("nothing was saved:\n%s", text)
	}
	if strings.Contains(text, "s3cr3t") {
		t.Errorf("it tells a secret:\n%s", text)
	}
	a.end()
	p.calm(p.read("stderr.txt"))
	if r, err := http.Get(url); err == nil {
		_ = r.Body.Close()
		t.Error("metrics are still served after the end")
	}
}

func TestMetricsThatCannotBeServedAreAnError(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a, url := p.measured("--set", "metrics.listen=127.0.0.1:0")
	taken := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics")
	p.program = "thresh"
	p.run("run", "--set", "metrics.listen="+taken).failed(t, 1, "metrics.listen", taken, "address already in use")
	p.run("run", "--set", "metrics.listen=9464").failed(t, 1, "metrics.listen", "9464", "host:port")
	a.end()
	if r := p.run("run", "--set", "metrics.listen=127.0.0.1:0", "--set", "metrics.listen=").done(t); r.stderr != "" {
		t.Errorf("with metrics turned off: %q", r.stderr)
	}
}
