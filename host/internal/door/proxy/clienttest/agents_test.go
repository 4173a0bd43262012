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

// each runs a test with every agent, side by side: agents wait most of the time.
func each(t *testing.T, test func(t *testing.T, c client)) {
	t.Parallel()
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
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

// Each agent does its work through thresh wrap, with a history that is pruned and compressed on the way. It does not
// compact its history by itself, although what its provider reports would make it do that, and its model gets a result
// back that was removed, where the agent has tools of MCP servers.
func TestAgentsWorkThroughWrap(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		p := newPlace(t)
		settings := small(c)
		options := modelapi.Options{Script: modelapi.LongFix(16), Dir: p.project}
		if c.compacts != nil {
			settings["model.contextLimit"] = c.compacts.limit
			options = c.compacting(p)
		}
		recalls := c.recalls(t, p)
		if recalls {
			options.Script = append(options.Script, modelapi.Turn{modelapi.Find()}, modelapi.Turn{modelapi.Recall()})
		}
		up := modelapi.New(options)
		defer up.Close()
		e := p.run(t, c, up.URL, flags(settings, "wrap")...)
		e.check(t, p, up)
		line := e.lastLine()
		t.Log(line)
		if !strings.Contains(line, "prompt tokens not sent") || strings.Contains(line, "could not be prepared") ||
			strings.Contains(line, "; 0 of ") != c.continued {
			t.Errorf("the last line is %q", line)
		}
		if n := compactions(up); n > 0 {
			t.Errorf("%d compactions", n)
		}
		sent := up.Models()
		if len(sent) == 0 {
			return // check has said so
		}
		last := modelapi.LastPart(sent[len(sent)-1].Body)
		// The last call showed the log again whose result was removed.
		if lines := strings.Count(last, "level=info"); recalls && lines < 20 {
			t.Errorf("%d requests; the answer of the last call has %d lines of the log: %s", len(sent), lines, tail(last))
		}
	})
}

// Every byte that was not edited is the agent's, what was sent is sent again until a rewrite, and a request that the
// agent repeats gets the same sent. The provider's prompt cache misses at rewrites alone, and the bill is as much smaller
// as the proxy says. The agent's own bytes come through a dry run, which changes nothing.
func TestEveryByteButTheEditsIsTheAgents(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		p := newPlace(t)
		up := modelapi.New(modelapi.Options{Script: modelapi.NewsFix(24), Dir: p.project,
			Fault: func(n int) (f modelapi.Reply) {
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
		if !c.continued {
			without, err := up.As(func(sent *modelapi.Request) []byte { return r.client(t, sent) })
			if err != nil {
				t.Fatal(err)
			}
			checkBill(t, accountOf(t, without), accountOf(t, up.Requests()), totals)
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

// Where thresh has too much room to prevent that an agent compacts its history, the requests for summaries pass as they
// came, and what follows is a conversation of its own: a branch, if the agent says what it is of.
func TestCompactionsOfTheAgent(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		if c.compacts == nil {
			t.Skip("SKIPPED: it does not compact in a conversation of this kind")
		}
		p := newPlace(t)
		up := modelapi.New(c.compacting(p))
		defer up.Close()
		r := record(t, p, up.URL,
			map[string]any{"compression.strategy": "top-down-truncation", "model.contextLimit": 2_000_000})
		p.run(t, c, r.URL, "wrap", "--dry-run").check(t, p, up)
		if compactions(up) == 0 {
			t.Fatal("it does not compact")
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
	})
}

// compacting drives an agent into a compaction of its own, where thresh does not prevent that.
func (c *client) compacting(p place) modelapi.Options {
	c.args, c.env = append(c.args, c.compacts.args...), append(c.env, c.compacts.env...)
	if c.prompts = c.compacts.prompts; c.prompts != nil {
		c.args = c.compacts.args
	}
	script := modelapi.LongFix(16)
	for range len(c.prompts) - 1 { // each but the last is answered before the work is done
		script = slices.Insert(script, len(script)-2, modelapi.Turn{})
	}
	return modelapi.Options{Script: script, Dir: p.project, Scale: c.compacts.scale}
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
