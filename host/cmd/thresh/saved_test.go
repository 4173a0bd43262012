package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// A provider tells with each answer what is used of the user's plan: the last line of a run, thresh top and its line
// say so. What runs saved adds up when they have ended.
func TestThePlanAndWhatRunsSaved(t *testing.T) {
	t.Parallel()
	var answers atomic.Int64
	start := time.Now()
	began, reset := start.UTC().Format("2006-01"), fmt.Sprint(start.Add(time.Hour).Unix())
	up := modelapi.New(modelapi.Options{Reply: func(*modelapi.Request) modelapi.Reply {
		h := http.Header{}
		h.Set("anthropic-ratelimit-unified-5h-utilization", fmt.Sprintf("0.%02d", 10+3*answers.Add(1)))
		h.Set("anthropic-ratelimit-unified-5h-reset", reset)
		h.Set("anthropic-ratelimit-unified-7d-utilization", "0.68")
		h.Set("anthropic-ratelimit-unified-7d-reset", reset)
		return modelapi.Reply{Text: "Hello.", Header: h}
	}})
	defer up.Close()
	p := newPlace(t)
	if r := p.run("top", "--total"); r.code != 0 || !strings.HasPrefix(r.stdout, "nothing was saved yet") {
		t.Errorf("%+v", r)
	}
	if r := p.run("top", "--line"); r.code != 0 || r.stdout != "thresh: not running\n" {
		t.Errorf("%+v", r)
	}
	// A run whose machine went off, whose line is not whole: it takes no other with it.
	file := p.path("home", ".local", "state", "thresh", "saved.jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"day":"2026-`), 0o600); err != nil {
		t.Fatal(err)
	}
	for run, now := range []string{"16 %", "22 %"} {
		w := p.printing(up)
		for range 2 {
			if status, _ := w.post("/v1/messages", hello); status != http.StatusOK {
				t.Fatal(status)
			}
		}
		line := p.beside("top", "--line")
		want := "thresh 0.0 % saved | 5 hours at " + now + ": 3 % here, else 3 % | week at 68 %: 0 % here\n"
		if line != want {
			t.Errorf("run %d: %q, want %q", run, line, want)
		}
		says := "of your plan, 3 % of the 5 hours was used, 3 % without thresh (now at " + now +
			"); 0 % of the week (now at 68 %)\n"
		shown := p.beside("top")
		if !strings.Contains(strings.ReplaceAll(shown, "\n  ", " "), strings.TrimSpace(says)) || wider(shown, 80) != "" {
			t.Errorf("run %d: no %q in\n%s", run, says, shown)
		}
		if text := w.interrupt(); !strings.HasSuffix(text, "\nthresh: "+says) {
			t.Errorf("run %d: %s", run, text)
		}
	}
	total := p.run("top", "--total")
	if !strings.HasSuffix(total.stderr, "saved.jsonl:1 cannot be read: it counts nothing\n") {
		t.Errorf("it says %q", total.stderr)
	}
	month, _, _ := strings.Cut(strings.TrimPrefix(total.stdout, "since "), ":") // another one may have begun meanwhile
	if month != began && month != time.Now().UTC().Format("2006-01") ||
		!strings.HasPrefix(total.stdout, "since "+month+": 4 requests; ") || !strings.Contains(total.stdout, "\n"+month+"  ") ||
		wider(total.stdout, 80) != "" {
		t.Errorf("%+v", total)
	}
}
