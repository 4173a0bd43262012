//go:build linux

package window_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/procs"
	"github.com/thresh-dev/thresh/sdk/content"
)

// faultyIn installs the faulty plugin under the name of a fault, in a directory of its own.
func faultyIn(t *testing.T, name string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, plugins.FilePrefix+name)
	if err := os.Link(filepath.Join(pluginDir, plugins.FilePrefix+"out-of-bounds"), path); err != nil {
		t.Fatal(err)
	}
	return dir, path
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(time.Minute); !ok(); {
		select {
		case <-late:
			t.Fatal("not within a minute: " + what)
		case <-tick.C:
		}
	}
}

// smallTalk is a conversation of people and an AI, of 20 tokens an entry and more.
func smallTalk(n int) (out []content.Content) {
	for i := range n {
		speaker := content.Human
		if i%2 > 0 {
			speaker = content.AI
		}
		out = append(out, says(speaker, strings.Repeat("grain and chaff, ", 5)))
	}
	return out
}

// turns prepares two turns with an entry more each, and says what became of them.
func turns(t *testing.T, s *window.Session) (said [2]string, last window.Prepared) {
	t.Helper()
	for i := range said {
		before := len(owned(t, s).Entries)
		p, err := s.Prepare(t.Context(), window.Sending{})
		switch {
		case err != nil:
			said[i] = "fails"
			if n := len(owned(t, s).Entries); n != before {
				t.Errorf("turn %d fails, and %d of %d entries are left", i+1, n, before)
			}
		case len(p.Outcome.Ladder) > 0:
			said[i] = "room"
		default:
			said[i] = "fits"
		}
		if err == nil && len(p.Outcome.Warnings) > 0 {
			said[i] += ", warns"
		}
		last = p
		add(t, s, says(content.Human, "And then?"))
	}
	return said, last
}

// Whatever is wrong with a strategy, its turn fails once as it is. From then on a request that is too large is made to
// fit without it.
func TestEveryFailureEndsTheSame(t *testing.T) {
	type kind struct {
		fault string
		set   map[string]any
		// before makes the strategy fail, once a session of its own has used it if used is set.
		used   bool
		before func(t *testing.T, h *window.Host, dir, path string)
		// unasked: without an Optimize, a turn below the threshold does not meet the failure.
		unasked bool
	}
	quick := map[string]any{"plugins.optimizeTimeout": "50ms", "plugins.compressTimeout": "50ms"}
	remove := func(t *testing.T, _ *window.Host, dir, path string) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it does not run", func() bool { return len(procs.Running(dir)) == 0 })
	}
	kinds := map[string]kind{
		"error":            {fault: "fails-in-calls", unasked: true},
		"try again":        {fault: "unavailable-in-calls", unasked: true},
		"crash":            {fault: "exits-in-calls", unasked: true},
		"hang":             {fault: "hangs-in-calls", set: quick, unasked: true},
		"killed":           {fault: "killed-in-calls", unasked: true},
		"refused answer":   {fault: "out-of-bounds", unasked: true},
		"garbage":          {fault: "answers-garbage", unasked: true},
		"does not start":   {fault: "exits-at-start"},
		"bad GetInfo":      {fault: "has-no-trigger"},
		"bad settings":     {fault: "refuses-config"},
		"file never there": {fault: "works", before: remove},
		"file removed":     {fault: "works", used: true, before: remove},
		"quarantine": {fault: "works", set: map[string]any{"plugins.maxCrashes": 1}, used: true,
			before: func(t *testing.T, h *window.Host, dir, _ string) {
				killAll(dir)
				eventually(t, "the quarantine", func() bool {
					return h.Plugins(t.Context())[0].State == plugins.StateQuarantined
				})
			}},
	}
	for name, k := range kinds {
		for mode, suffix := range map[string]string{"continuous": "", "threshold": "-by-threshold"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				dir, path := faultyIn(t, k.fault+suffix)
				set := map[string]any{"plugins.dirs": []string{dir}, "compression.strategy": k.fault + suffix,
					"model.contextLimit": 2000}
				maps.Copy(set, k.set)
				h := open(t, set)
				over, small := begin(t, h, nil), begin(t, h, nil)
				strict := begin(t, h, map[string]any{"compression.hardLimit": "error"})
				if k.used {
					first := begin(t, h, nil)
					add(t, first, smallTalk(2)[1:]...)
					prepareTurn(t, first)
				}
				if k.before != nil {
					k.before(t, h, dir, path)
				}
				add(t, over, smallTalk(200)...)
				add(t, strict, smallTalk(200)...)
				add(t, small, smallTalk(4)...)
				large, p := turns(t, over)
				refused, _ := turns(t, strict)
				fits, _ := turns(t, small)
				t.Logf("%-16s %-10s  over the limit: %-5s %-11s  error: %-5s %-5s  fits: %-5s %s", name, mode, large[0],
					large[1], refused[0], refused[1], fits[0], fits[1])
				if large != [2]string{"fails", "room, warns"} || p.Outcome.Projected > 2000 {
					t.Errorf("over the limit: %q, %d tokens, %q", large, p.Outcome.Projected, p.Outcome.Warnings)
				}
				if refused != [2]string{"fails", "fails"} {
					t.Errorf("over the limit, where no room may be made: %q", refused)
				}
				want := [2]string{"fails", "fits, warns"}
				if k.unasked && mode == "threshold" {
					want = [2]string{"fits", "fits"}
				}
				if fits != want {
					t.Errorf("a request that fits: %q, want %q", fits, want)
				}
			})
		}
	}
}

// killAll kills the plugins of a directory.
func killAll(dir string) {
	for pid := range procs.Running(dir) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// A strategy that can be had again is used again, and its next failure is one to see.
func TestAStrategyThatIsBackIsUsed(t *testing.T) {
	dir, path := faultyIn(t, "works-by-threshold")
	h := open(t, map[string]any{"plugins.dirs": []string{dir}, "compression.strategy": "works-by-threshold",
		"model.contextLimit": 2000, "plugins.maxCrashes": 1})
	s := begin(t, h, nil)
	add(t, s, smallTalk(4)...)
	prepareTurn(t, s)
	for name, c := range map[string]struct{ away, back func() }{
		"file": {
			func() {
				if err := os.Rename(path, path+".away"); err != nil {
					t.Fatal(err)
				}
				eventually(t, "it ends", func() bool { return len(procs.Running(dir)) == 0 })
			},
			func() {
				if err := os.Rename(path+".away", path); err != nil {
					t.Fatal(err)
				}
			},
		},
		"quarantine": {
			func() {
				killAll(dir)
				eventually(t, "the quarantine",
					func() bool { return h.Plugins(t.Context())[0].State == plugins.StateQuarantined })
			},
			func() { h.ResetPlugin("works-by-threshold") },
		},
	} {
		c.away()
		add(t, s, smallTalk(200)...)
		if said, _ := turns(t, s); said != [2]string{"fails", "room, warns"} {
			t.Errorf("%s: away: %q", name, said)
		}
		c.back()
		add(t, s, smallTalk(200)...)
		p, err := s.Prepare(t.Context(), window.Sending{})
		if err != nil || p.Outcome.Compress.Kind == "" || p.Outcome.Compress.Failed != "" {
			t.Errorf("%s: back: %v, %+v", name, err, p.Outcome.Compress)
		}
	}
}

// What is known of failures is in the store: a host that continues a session does not fail its turn again.
func TestAFailureIsSeenOnceAcrossHosts(t *testing.T) {
	dir, _ := faultyIn(t, "exits-at-start")
	kept, key := store.NewMemory(), store.Key{ID: "s"}
	for turn := range 2 {
		h := openOn(t, kept, map[string]any{"plugins.dirs": []string{dir}, "compression.strategy": "exits-at-start",
			"model.contextLimit": 2000})
		s, err := h.Open(window.Opening{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		if turn == 0 {
			add(t, s, smallTalk(200)...)
		}
		_, err = s.Prepare(t.Context(), window.Sending{})
		if failed := errors.Is(err, plugins.ErrPluginCrashed) || errors.Is(err, plugins.ErrNotPlugin); failed != (turn == 0) {
			t.Errorf("turn %d: %v", turn+1, err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}
