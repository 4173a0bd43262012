package prune

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// session is calls that share a memo, as the SDK makes them.
type session struct {
	in   sdk.OptimizeInput
	seen []sdk.Content // the history of the call before
	left []sdk.Content // the same after the edits of that call's answer; nil without edits
}

func newSession(d sdk.DensityConfig, root string, taxonomy *tools.Taxonomy) *session {
	s := &session{}
	s.in.Log = slog.New(slog.DiscardHandler)
	s.in.Density, s.in.WorkspaceRoot, s.in.Tools, s.in.Memo = d, root, taxonomy, new(sdk.Memo)
	return s
}

// testable is *testing.T or *rapid.T.
type testable interface {
	rapid.TB
	Context() context.Context
}

// compared calls Optimize with the memo and without, and fails the test if the answers differ. Of the entries that are
// unchanged, the call is told fewer by less.
func (s *session) compared(t testable, history []sdk.Content, less int) sdk.DensityResult {
	t.Helper()
	got := s.optimize(t, history, less)
	full := s.in
	full.Memo, full.Unchanged = nil, 0
	want, err := Optimize(t.Context(), full)
	if err != nil {
		t.Fatal(err)
	}
	same := slices.Equal(got.Removals, want.Removals) && got.Metadata == want.Metadata &&
		maps.EqualFunc(got.Replacements, want.Replacements, sdk.Content.Equal) &&
		maps.EqualFunc(got.Reasons, want.Reasons, func(a, b sdk.Reason) bool {
			return a.Rule == b.Rule && *a.SupersededBy == *b.SupersededBy
		})
	if !same {
		t.Fatalf("%d entries, %d of them unchanged (-without a memo +with):\n%s", len(history), s.in.Unchanged,
			cmp.Diff(want, got, cmp.Comparer(sdk.Content.Equal), cmpopts.EquateEmpty()))
	}
	if err := sdktest.CheckDensity(history, got); err != nil {
		t.Fatal(err)
	}
	return got
}

func (s *session) optimize(t testable, history []sdk.Content, less int) sdk.DensityResult {
	t.Helper()
	same := common(history, s.seen)
	s.in.History, s.in.Unchanged, s.in.Applied = history, max(same-less, 0), 0
	if same < len(s.seen) && less == 0 && s.left != nil && common(history, s.left) == len(s.left) {
		s.in.Applied = len(s.left)
	}
	got, err := Optimize(t.Context(), s.in)
	if err != nil {
		t.Fatal(err)
	}
	s.seen, s.left = history, nil
	if len(got.Reasons) > 0 {
		s.left = applied(history, got)
	}
	return got
}

// common returns how many entries two histories have in common at their beginning.
func common(a, b []sdk.Content) (n int) {
	for n < min(len(a), len(b)) && a[n].Equal(b[n]) {
		n++
	}
	return n
}

// applied is the history after the edits of an answer.
func applied(history []sdk.Content, r sdk.DensityResult) (out []sdk.Content) {
	for i, entry := range history {
		if _, gone := slices.BinarySearch(r.Removals, i); gone {
			continue
		}
		if edited, ok := r.Replacements[i]; ok {
			entry = edited
		}
		out = append(out, entry)
	}
	return out
}

// However a session grows and whatever is rewritten in it, what a call remembers of the calls before changes nothing in
// its answer. A host would apply each answer, and on its own result there is nothing left to do.
func TestAMemoChangesNoAnswer(t *testing.T) {
	seeds := vectors.Tools(t)
	rapid.Check(t, func(rt *rapid.T) {
		s := newSession(densities().Draw(rt, "density"), "/w", seeds)
		pool := histories().Draw(rt, "pool")
		for i := range pool {
			if rapid.IntRange(0, 9).Draw(rt, "pinned") == 0 {
				pool[i] = pin(pool[i])
			}
		}
		var history []sdk.Content
		for range rapid.IntRange(1, 12).Draw(rt, "calls") {
			switch at := rapid.IntRange(0, len(history)).Draw(rt, "at"); rapid.IntRange(0, 8).Draw(rt, "step") {
			case 0: // the end is rewritten
				history = slices.Clone(history[:at])
			case 1: // an entry goes
				if at < len(history) {
					history = slices.Delete(slices.Clone(history), at, at+1)
				}
			case 2:
				s.in.Density = densities().Draw(rt, "density")
			case 3: // the edits of the last call are applied
				history = applied(history, s.compared(rt, history, 0))
				if again := s.compared(rt, history, 0); len(again.Removals)+len(again.Replacements) > 0 {
					rt.Fatalf("run on its own result, it makes edits: %+v", again)
				}
			case 4:
				pool = histories().Draw(rt, "pool")
			case 5: // of the edits of the last call, only those of the beginning are applied
				r := s.compared(rt, history, 0)
				history = append(applied(history[:at:at], r), history[at:]...)
			}
			n := rapid.IntRange(0, len(pool)).Draw(rt, "new")
			history = append(slices.Clone(history), pool[:n]...)
			pool = pool[n:]
			s.compared(rt, history, rapid.SampledFrom([]int{0, 0, 0, 1, 5}).Draw(rt, "less"))
		}
	})
}

// cancelledAfter is a context that is cancelled once it was looked at n times.
type cancelledAfter struct {
	context.Context
	n int
}

func (c *cancelledAfter) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// A call that is cancelled halfway leaves nothing behind that a later one takes for the history, whether that goes on
// otherwise or has the edits of the call before applied.
func TestACancelledCallChangesNoAnswer(t *testing.T) {
	read, write := exchange("r", "read_file", "a.go"), exchange("w", "write_file", "a.go")
	for name, next := range map[string][]sdk.Content{
		"otherwise": join(read, write, exchange("n", "read_file", "c.go")),
		"applied":   join(exchange("n", "read_file", "c.go"), exchange("m", "write_file", "c.go")),
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(sdk.DensityConfig{ReadWritePruning: true}, "/w", vectors.Tools(t))
			r := s.compared(t, join(read, write), 0)
			s.in.Unchanged, s.in.History = 4, join(read, write, exchange("n", "read_file", "b.go"))
			if _, err := Optimize(&cancelledAfter{t.Context(), 1}, s.in); err == nil {
				t.Fatal("a cancelled call has an answer")
			}
			if name == "applied" {
				next = append(applied(join(read, write), r), next...)
			}
			s.compared(t, next, 0)
		})
	}
}

// What moves within an entry when an answer is applied: each session is played entry by entry, with the edits held back
// and with each applied at once.
func TestAMemoChangesNoAnswerStepByStep(t *testing.T) {
	reads := []sdk.Content{
		merge(call("a", "read_file", `{"file_path":"a.go"}`), call("b", "read_file", `{"file_path":"b.go"}`)),
		merge(answer("a", "read_file", "A"), answer("b", "read_file", "B"), answer("x", "grep", "C"))}
	writes := join(exchange("1", "write_file", "a.go"), exchange("2", "write_file", "b.go"))
	greps := join(exchange("3", "grep", "x"), exchange("4", "grep", "x"))
	failed := exchange("5", "grep", "x")
	failed = []sdk.Content{merge(failed[0], call("6", "write_file", `{"file_path":"c.go"}`)),
		merge(failed[1], answer("6", "write_file", "It is mounted read-only."))}
	// A command that reads a.go and writes b.go.
	both := call("7", "run_shell_command", `{"command":"cp a.go b.go"}`)
	c := both.Blocks[0].(sdk.ToolCall)
	c.Extra = c.Extra.With(content.Field{Name: tools.FilesField,
		Value: []byte(`{"reads":["a.go"],"writes":[{"path":"b.go"}]}`)})
	both.Blocks[0] = c
	late := exchange("8", "read_file", "b.go")
	file := func(name string) string {
		return "--- " + name + " ---\n" + strings.Repeat("x", 80) + "\n--- End of content ---\n"
	}
	files := sdk.Content{Speaker: sdk.Human, Blocks: []sdk.Block{sdk.Text{Text: "--- a.go ---\n"},
		sdk.Text{Text: strings.Repeat("x", 80)}, sdk.Text{Text: "\n--- End of content ---\n" + file("b.go")}}}
	for name, history := range map[string][]sdk.Content{
		"calls and results of one entry": join(reads, writes),
		"behind what went":               join(exchange("0", "read_file", "c.go"), reads, exchange("9", "write_file", "c.go"), writes),
		"old results next to them":       join(reads, greps, writes),
		"a failure next to an old one":   join(failed, greps, exchange("9", "write_file", "d.go"), writes, greps),
		"a read that also writes": join(late[:1], []sdk.Content{both, answer("7", "run_shell_command", "ok")}, writes[:2],
			[]sdk.Content{said(sdk.Human, "q")}, late[1:]),
		"two files of one text": {said(sdk.Human, file("a.go")+"and\n"+file("b.go")), said(sdk.Human, file("a.go")),
			said(sdk.Human, file("b.go")), said(sdk.Human, file("a.go"))},
		"two files of two texts": {merge(said(sdk.Human, file("a.go")), said(sdk.Human, file("b.go"))),
			said(sdk.Human, file("a.go")), said(sdk.Human, file("b.go"))},
		"a file over blocks behind another": {merge(said(sdk.Human, file("a.go")+"--- b.go ---\n"),
			said(sdk.Human, strings.Repeat("x", 80)+"\n--- End of content ---\n")),
			said(sdk.Human, file("a.go")), said(sdk.Human, file("b.go"))},
		"two files over blocks": {files, said(sdk.Human, file("a.go")), said(sdk.Human, file("b.go")),
			said(sdk.Human, file("a.go"))},
	} {
		for _, apply := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/applied=%v", name, apply), func(t *testing.T) {
				s := newSession(sdk.DensityConfig{ReadWritePruning: true, FileDedupe: true, RecencyPruning: true,
					RecencyRetention: 1}, "/w", vectors.Tools(t))
				var left []sdk.Content
				for _, entry := range history {
					left = append(left[:len(left):len(left)], entry)
					if r := s.compared(t, left, 0); apply {
						left = applied(left, r)
					}
				}
			})
		}
	}
}

// What an answer took out does not pile up in the memo, and a turn begins with what the last one knew.
func TestAMemoForgetsWhatWent(t *testing.T) {
	s := newSession(sdk.DensityConfig{ReadWritePruning: true}, "/w", vectors.Tools(t))
	history, states := slices.Repeat([]sdk.Content{said(sdk.Human, "q")}, 40), map[*state]bool{}
	for range 20 {
		read, write := exchange("r", "read_file", "a.go"), exchange("w", "write_file", "a.go")
		history = join(applied(history, s.optimize(t, history, 0)), read, read, read, write)
		state := s.in.Memo.Load().(*state)
		if states[state] = true; len(state.touched) > 0 {
			t.Fatalf("it would look at %d entries again at each turn", len(state.touched))
		}
	}
	if len(states) > 5 {
		t.Errorf("it began anew in %d of 20 turns", len(states))
	}
	if state := s.in.Memo.Load().(*state); len(state.gone) > state.known() {
		t.Errorf("it knows %d entries and %d that went", state.known(), len(state.gone))
	}
}

func TestAMemoChangesNoAnswerOfTheVectors(t *testing.T) {
	seeds := vectors.Tools(t)
	for _, v := range vectors.Decode[vector](t, "optimize.jsonl") {
		c := v.Config
		d := sdk.DensityConfig{ReadWritePruning: c.ReadWritePruning, FileDedupe: c.FileDedupe,
			RecencyPruning: c.RecencyPruning, RecencyRetention: int(c.RecencyRetention)}
		for split := range v.History {
			s := newSession(d, c.WorkspaceRoot, seeds)
			s.compared(t, v.History[:split], 0)
			s.compared(t, v.History, 0)
			s.compared(t, v.History[:split], 0)
		}
	}
}

// Recorded sessions are played entry by entry: once with the edits held back, once with each applied at once.
func TestAMemoChangesNoAnswerOfRecordedSessions(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repo.Shared(t, "sessions", "normalized"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no recorded sessions", err)
	}
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var recorded struct{ History []sdk.Content }
		if err := json.Unmarshal(data, &recorded); err != nil {
			t.Fatal(err)
		}
		for _, apply := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/applied=%v", filepath.Base(file), apply), func(t *testing.T) {
				t.Parallel()
				s := newSession(sdk.DensityConfig{ReadWritePruning: true, FileDedupe: true, RecencyPruning: true,
					RecencyRetention: 3}, "/w", taxonomy)
				var history []sdk.Content
				sample := max(len(recorded.History)/40, 1) // a full run for each entry would take quadratic time
				for i, entry := range recorded.History {
					history = append(history[:len(history):len(history)], entry)
					optimize := s.optimize
					if i%sample == 0 || i == len(recorded.History)-1 {
						optimize = s.compared
					}
					if r := optimize(t, history, 0); apply {
						history = applied(history, r)
					}
				}
			})
		}
	}
}
