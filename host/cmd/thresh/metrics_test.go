package main_test

import (
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/race"
)

// read returns a file of the working directory, "" if it is not there.
func (p *place) read(name string) string {
	text, _ := os.ReadFile(p.path("work", name))
	return string(text)
}

func TestRunServesMetrics(t *testing.T) {
	race.Watch(t)
	t.Parallel()
	a := newPlace(t, "exits-at-start").serve("--set", "metrics.listen=127.0.0.1:0")
	s := a.open("s3cr3t", object{"workspace.root": "/w", "compression.strategy": "high-density"})
	a.call("history.add", object{"session": s, "entries": parseJSON[any](t, pruning)}, nil)
	a.call("history.add", object{"session": s, "entries": []object{says("human", "the password is s3cr3t")}}, nil)
	a.prepare(s)
	a.prepare(s)
	a.refused(-32000, "session.open", object{"settings": object{"compression.strategy": "s3cr3t"}}, "s3cr3t")
	a.open("lost", object{"compression.strategy": "exits-at-start"})
	a.refused(-32000, "window.prepare", object{"session": "lost"}, "exits-at-start")
	a.call("session.close", object{"session": "lost"}, nil)
	url, _, _ := strings.Cut(strings.TrimPrefix(a.stderr.String(), "thresh: metrics at "), "\n")
	status, text := fetch(t, url, "", "")
	wanted := []string{
		`thresh_turns_total{outcome="ok",strategy="high-density"} 2`,
		`thresh_turns_total{outcome="error",strategy="exits-at-start"} 1`,
		`thresh_optimize_runs_total{reason="clean",result="skipped",strategy="high-density"} 1`,
		`thresh_plugin_call_duration_seconds_count{call="optimize",strategy="high-density"} 1`,
		`thresh_plugin_state{state="ready",strategy="high-density"} 1`,
		`thresh_sessions 1`,
		`thresh_tokens_saved_total{step="optimize",strategy="high-density"} `,
	}
	if runtime.GOOS == "linux" { // how much the process takes
		wanted = append(wanted, "go_goroutines ", "process_open_fds ", "process_resident_memory_bytes ")
	}
	for _, want := range wanted {
		if status != http.StatusOK || !strings.Contains(text, "\n"+want) {
			t.Errorf("no %s in\n%d %s", want, status, text)
		}
	}
	if strings.Contains(text, "s3cr3t") {
		t.Errorf("it tells a secret:\n%s", text)
	}
	a.end()
	if r, err := http.Get(url); err == nil {
		_ = r.Body.Close()
		t.Error("metrics are still served after the end")
	}
}
