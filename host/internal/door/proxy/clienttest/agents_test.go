package clienttest

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// each runs a test with every agent.
func each(t *testing.T, test func(t *testing.T, c client)) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			c.installed(t)
			c.limit = cmp.Or(c.limit, 16_000)
			test(t, c)
		})
	}
}

// small returns settings under which an agent's history is pruned and compressed on the way.
func small(c client) map[string]any {
	return map[string]any{"compression.density.cadence": "every-turn", "model.contextLimit": c.limit,
		"model.completionBudget": 1, "compression.preserveThreshold": 0.2}
}

func flags(settings map[string]any, more ...string) (out []string) {
	for key, value := range settings {
		out = append(out, "--set", fmt.Sprintf("%s=%v", key, value))
	}
	return append(out, more...)
}

// Each agent does its work through thresh wrap, with a history that is pruned and compressed on the way.
func TestAgentsWorkThroughWrap(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		p := newPlace(t)
		up := modelapi.New(modelapi.Options{Script: modelapi.LongFix(14), Dir: p.project})
		defer up.Close()
		e := p.run(t, c, up.URL, flags(small(c), "wrap")...)
		e.check(t, p, up)
		line := e.lastLine()
		t.Log(line)
		if !strings.Contains(line, "prompt tokens not sent") || strings.Contains(line, "could not be prepared") ||
			strings.Contains(line, "; 0 of ") != c.continued {
			t.Errorf("the last line is %q", line)
		}
	})
}

// Every byte that was not edited is the agent's, what was sent is sent again until a rewrite, and a request that the
// agent repeats gets the same sent. The agent's own bytes come through a dry run, which changes nothing.
func TestEveryByteButTheEditsIsTheAgents(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		p := newPlace(t)
		up := modelapi.New(modelapi.Options{Script: modelapi.LongFix(14), Dir: p.project,
			Fault: func(n int) (f modelapi.Fault) {
				if n == 9 && !c.noRetry {
					f.Status = http.StatusServiceUnavailable
				}
				return f
			}})
		defer up.Close()
		r := record(t, p, up.URL, small(c))
		p.run(t, c, r.URL, "wrap", "--dry-run").check(t, p, up)
		if len(up.Requests()) != len(r.bodies) {
			t.Fatalf("the agent sent %d requests, the provider got %d", len(r.bodies), len(up.Requests()))
		}
		edited, breaks, retries := 0, 0, 0
		var last, failed *modelapi.Request
		for i, s := range up.Requests() {
			client := r.client(t, s)
			if !s.Model {
				if !bytes.Equal(s.Body, client) {
					t.Errorf("request %d has no tools, and was changed", i)
				}
				continue
			}
			if err := modelapi.OnlyEdits(client, s.Body); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
			if !bytes.Equal(s.Body, client) {
				edited++
			}
			if failed != nil && bytes.Equal(client, r.client(t, failed)) {
				retries++
				if !bytes.Equal(s.Body, failed.Body) {
					t.Errorf("request %d is repeated, but not what is sent", i)
				}
			}
			if failed = nil; s.Status != http.StatusOK {
				failed = s
			}
			if last != nil && !modelapi.Continues(last.Body, s.Body) {
				breaks++
			}
			last = s
		}
		totals := r.proxy.Totals()
		if edited == 0 != c.continued || breaks > totals.Rewrites && !c.continued || totals.Failed > 0 ||
			retries == 0 != c.noRetry {
			t.Errorf("%d requests were edited, %d repeated, the beginning changed %d times; %+v", edited, retries,
				breaks, totals)
		}
	})
}

// compactions returns how often the agent asked for a summary of its history.
func compactions(up *modelapi.Server) (n int) {
	for _, r := range up.Requests() {
		if r.Compacts {
			n++
		}
	}
	return n
}

// Where an agent compacts its history by itself, it does not through thresh. Where thresh has too much room to prevent
// it, the requests for summaries pass as they came, and what follows is a conversation of its own: a branch, if the agent
// says what it is of.
func TestNoCompactionOfTheAgent(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		if c.compacts == nil {
			t.Skip("SKIPPED: it does not compact in a conversation of this kind")
		}
		c.args, c.env = append(c.args, c.compacts.args...), append(c.env, c.compacts.env...)
		if c.prompts = c.compacts.prompts; c.prompts != nil {
			c.args = c.compacts.args
		}
		provider := func(p place) *modelapi.Server {
			script := modelapi.LongFix(16)
			for range len(c.prompts) - 1 { // each but the last is answered before the work is done
				script = slices.Insert(script, len(script)-2, modelapi.Turn{})
			}
			up := modelapi.New(modelapi.Options{Script: script, Dir: p.project, Scale: c.compacts.scale})
			t.Cleanup(up.Close)
			return up
		}
		p := newPlace(t)
		up := provider(p)
		r := record(t, p, up.URL,
			map[string]any{"compression.strategy": "top-down-truncation", "model.contextLimit": 2_000_000})
		p.run(t, c, r.URL, "wrap", "--dry-run").check(t, p, up)
		if compactions(up) == 0 {
			t.Fatal("the control run does not compact")
		}
		goesOn := false // after the first compaction
		for i, s := range up.Requests() {
			if !bytes.Equal(s.Body, r.client(t, s)) {
				t.Errorf("request %d was changed; it asks for a summary: %v", i, s.Compacts)
			}
			goesOn = goesOn || s.Model && !s.Compacts && i > 0 && up.Requests()[i-1].Compacts
		}
		roots, branches := 0, 0
		for h, err := range r.kept.List(t.Context(), store.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if h.Parent.ID == "" {
				roots++
			} else {
				branches++
			}
		}
		if totals := r.proxy.Totals(); totals.Failed > 0 || goesOn == (roots+branches == 1) || c.named() && roots > 1 {
			t.Errorf("%d conversations and %d branches; %+v", roots, branches, totals)
		}
		p = newPlace(t)
		up = provider(p)
		p.run(t, c, up.URL, flags(map[string]any{"model.contextLimit": c.compacts.limit, "model.completionBudget": 1,
			"compression.preserveThreshold": 0.2}, "wrap")...).check(t, p, up)
		if n := compactions(up); n > 0 {
			t.Errorf("%d compactions", n)
		}
	})
}

// Each agent has a section of the documentation, with the command by which it is started here.
func TestEachAgentIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../../../docs/use-with.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range clients {
		if !strings.Contains(string(page), "\nthresh wrap "+cmp.Or(c.program, c.install)) {
			t.Errorf("docs/use-with.md has no command for %s", c.name)
		}
	}
}
