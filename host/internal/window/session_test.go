package window_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// applied optimises a session for good, and returns what a second look finds.
func applied(t *testing.T, s *window.Session) (sdk.DensityMetadata, error) {
	t.Helper()
	prepareTurn(t, s)
	_, again, err := s.PlanOptimize(t.Context())
	return again.Metadata, err
}

func TestTheThresholdOfTheSessionWins(t *testing.T) {
	h := open(t, map[string]any{"compression.threshold": 0.6, "model.contextLimit": 100_000})
	for name, c := range map[string]struct {
		settings map[string]any
		want     outcome.Limits
	}{
		"the host's": {nil, outcome.Limits{Context: 100_000, Hard: 100_000, Threshold: 0.6, ThresholdFrom: "setting",
			Trigger: 60_000}},
		"the session's": {map[string]any{"compression.threshold": "0.5"},
			outcome.Limits{Context: 100_000, Hard: 100_000, Threshold: 0.5, ThresholdFrom: "setting", Trigger: 50_000}},
		"with a budget": {map[string]any{"model.completionBudget": 20_000},
			outcome.Limits{Context: 100_000, Hard: 80_000, Threshold: 0.6, ThresholdFrom: "setting", Trigger: 48_000}},
	} {
		if diff := cmp.Diff(c.want, prepareTurn(t, begin(t, h, c.settings)).Outcome.Limits); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	own := outcome.Limits{Context: 200_000, Hard: 200_000, Threshold: 0.85, ThresholdFrom: "strategy default",
		Trigger: 170_000}
	h = open(t, map[string]any{"compression.strategy": "high-density"})
	if diff := cmp.Diff(own, prepareTurn(t, begin(t, h, nil)).Outcome.Limits); diff != "" {
		t.Errorf("the strategy's:\n%s", diff)
	}
}

func TestSetRefusesWhatIsWrong(t *testing.T) {
	h := open(t, nil)
	s := begin(t, h, nil)
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"compression.treshold", 0.5, "compression.threshold"},
		{"compression.threshold", 2, "at most 1"},
		{"compression.threshold", "high", "a number"},
		{"model.contextLimit", 1.5, "an integer"},
		{"compression.density.tools", `[{"names":["x"]}]`, "compression.density.tools"},
		{"model.completionBudget", 300_000, "model.contextLimit"},
		{"model.priceList", "anthropic-sonet", "anthropic-sonnet"},
	} {
		var wrong *config.Error
		if err := s.Set(t.Context(), c.key, c.value); err == nil || !strings.Contains(err.Error(), c.key) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %v: %v", c.key, c.value, err)
		} else if c.key != "compression.density.tools" && c.key != "model.priceList" && !errors.As(err, &wrong) {
			t.Errorf("%s = %v: a %T", c.key, c.value, err)
		}
	}
	if _, err := h.Open(window.Opening{Settings: map[string]any{"compression.threshold": 0}}); err == nil {
		t.Error("a session was opened with a threshold of 0")
	}
	add(t, s, says(content.Human, "counted"))
	must(t, s.Set(t.Context(), "model.encoding", "cl100k_base"), window.ErrFixed)
	must(t, s.Set(t.Context(), "compression.threshold", "0.7"), nil)
	must(t, s.Set(t.Context(), "compression.strategy", "nosuch"), plugins.ErrUnknownStrategy)
	_, err := h.Open(window.Opening{Settings: map[string]any{"compression.strategy": "nosuch"}})
	must(t, err, plugins.ErrUnknownStrategy)
	must(t, s.Set(t.Context(), "compression.strategy", nil), nil)
	prepareTurn(t, s)
}

func TestAddTakesAllOrNothing(t *testing.T) {
	s := begin(t, open(t, nil), nil)
	_, err := s.Add(t.Context(), window.Entries(says(content.Human, "good"), says("robot", "bad")))
	must(t, err, window.ErrInvalidEntry)
	if err == nil || !strings.Contains(err.Error(), "entry 1") {
		t.Errorf("got %v", err)
	}
	if n := len(owned(t, s).Entries); n != 0 {
		t.Errorf("%d entries were added", n)
	}
	if added, err := s.Add(t.Context(), window.Entries(says(content.Human, "good"))); added.Revision != 1 ||
		added.Tokens <= 0 || err != nil {
		t.Errorf("%+v, %v", added, err)
	}
	if _, err := s.Add(t.Context(), window.Addition{Entries: []content.Content{says("robot", "bad")},
		Judge: window.Anything}); err != nil {
		t.Errorf("Restore: %v", err)
	}
	p := prepareTurn(t, s)
	if diff := cmp.Diff([]string{"good"}, texts(p.Contents())); diff != "" || len(p.Outcome.Problems) != 1 {
		t.Errorf("problems %v, prepared:\n%s", p.Outcome.Problems, diff)
	}
}

// What a strategy that ships makes of a message with thousands of files is not refused by its own host.
func TestThousandsOfFilesAreIncludedAgain(t *testing.T) {
	s := begin(t, open(t, map[string]any{"compression.strategy": "high-density", "model.contextLimit": 1_000_000,
		"compression.density.cadence": "every-turn"}), nil)
	var files strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&files, "--- src/f%d.ts ---\nexport const f = %d\n// and so on\n--- End of content ---\n", i, i)
	}
	for range 2 {
		add(t, s, says(content.Human, "Look:\n"+files.String()), says(content.AI, "I did."))
	}
	add(t, s, says(content.Human, "Go on."))
	if o := prepareTurn(t, s).Outcome.Optimize; o.Replaced != 1 {
		t.Errorf("%+v", o)
	}
}

func TestABadAnswerLeavesTheHistory(t *testing.T) {
	s := begin(t, open(t, nil), map[string]any{"compression.strategy": "out-of-bounds"})
	add(t, s, says(content.Human, "x"))
	before := owned(t, s)
	p, err := s.Prepare(t.Context(), window.Sending{})
	var answer *history.AnswerError
	if !errors.As(err, &answer) || !errors.Is(err, history.ErrOutOfBounds) {
		t.Errorf("got %v", err)
	}
	if len(p.Contents()) != 1 || owned(t, s).Revision != before.Revision {
		t.Errorf("%d entries prepared, revision %d after %d", len(p.Contents()), owned(t, s).Revision, before.Revision)
	}
}

// working is a session whose strategy is at work on a Prepare until release is called; done is closed then.
func working(t *testing.T, h *window.Host, entries ...content.Content) (s *window.Session, done chan error,
	release func()) {
	t.Helper()
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	s = begin(t, h, map[string]any{"compression.strategy": "gate", "workspace.root": dir})
	add(t, s, entries...)
	done = make(chan error, 1)
	go func() {
		_, err := s.Prepare(context.Background(), window.Sending{})
		done <- err
	}()
	pipe, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits for its reader
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pipe.Close() })
	return s, done, func() {
		_ = os.Remove(gate)
		_ = pipe.Close()
	}
}

func ended(t *testing.T, done chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(soon):
		t.Fatal("Prepare goes on")
		return nil
	}
}

func TestLateAddsAreKept(t *testing.T) {
	s, done, release := working(t, open(t, nil), says(content.Human, "first"),
		content.Content{Speaker: content.AI, Blocks: []content.Block{content.Thinking{Thought: "chaff"}}})
	add(t, s, says(content.Human, "late"))
	add(t, s, says(content.AI, "later"))
	release()
	if err := ended(t, done); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"first", "late", "later"}, texts(owned(t, s).Contents())); diff != "" {
		t.Error(diff)
	}
	p := prepareTurn(t, s)
	if diff := cmp.Diff([]string{"first", "late", "later"}, texts(p.Contents())); diff != "" || p.Outcome.Optimize.Kind == "" {
		t.Errorf("what came late was not looked at (%+v), or is not sent:\n%s", p.Outcome.Optimize, diff)
	}
}

// An agent that keeps what it was given need take over only what follows.
func TestPrepareSaysWhatIsUnchanged(t *testing.T) {
	s := begin(t, open(t, map[string]any{"compression.strategy": "high-density"}), nil)
	var kept []content.Content
	since, pruned := uint64(0), false
	for i, e := range gen.Session(60, 1) {
		if _, err := s.Add(t.Context(), window.Addition{Entries: []content.Content{e},
			Judge: window.Anything}); err != nil {
			t.Fatal(err)
		}
		if i%3 > 0 {
			continue
		}
		p := prepareTurn(t, s)
		if p.UnchangedSince != since || p.Unchanged > len(kept) || p.Unchanged == 0 && i > 0 {
			t.Fatalf("%d entries unchanged since revision %d, want since %d", p.Unchanged, p.UnchangedSince, since)
		}
		kept, since = append(kept[:p.Unchanged:p.Unchanged], p.Contents()[p.Unchanged:]...), p.Revision
		if !slices.EqualFunc(kept, p.Contents(), content.Content.Equal) {
			t.Fatal("the beginning is not the same")
		}
		pruned = pruned || p.Outcome.Optimize.Replaced > 0
	}
	if !pruned {
		t.Error("nothing was pruned, so nothing was shown")
	}
}

func TestCloseEndsAPrepare(t *testing.T) {
	for name, closeIt := range map[string]func(*window.Host, *window.Session) error{
		"of the session": func(_ *window.Host, s *window.Session) error { return s.Close() },
		"of the host":    func(h *window.Host, _ *window.Session) error { return h.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, nil)
			s, done, _ := working(t, h, says(content.Human, "x"))
			if err := closeIt(h, s); err != nil {
				t.Error(err)
			}
			if err := ended(t, done); err == nil {
				t.Error("the Prepare under way did not fail")
			}
			_, err := s.Add(t.Context(), window.Entries(says(content.Human, "y")))
			must(t, err, journal.ErrClosed)
			_, err = s.Prepare(t.Context(), window.Sending{})
			must(t, err, journal.ErrClosed)
		})
	}
}

func TestACallersContextEndsAPrepare(t *testing.T) {
	s := begin(t, open(t, nil), nil)
	add(t, s, says(content.Human, "x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Prepare(ctx, window.Sending{})
	must(t, err, context.Canceled)
	prepareTurn(t, s)
}

// A turn that waits for another one ends with its context, and returns the history as it is.
func TestATurnThatWaitsEndsInTime(t *testing.T) {
	s, first, release := working(t, open(t, nil), says(content.Human, "x"))
	for name, turn := range map[string]func(context.Context) ([]content.Content, error){
		"Prepare": func(ctx context.Context) ([]content.Content, error) {
			p, err := s.Prepare(ctx, window.Sending{})
			return p.Contents(), err
		},
		"Compress": func(ctx context.Context) ([]content.Content, error) {
			_, err := s.Compress(ctx, nil)
			return owned(t, s).Contents(), err
		},
		"PlanOptimize": func(ctx context.Context) ([]content.Content, error) {
			_, _, err := s.PlanOptimize(ctx)
			return owned(t, s).Contents(), err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		second := make(chan error, 1)
		go func() {
			h, err := turn(ctx)
			if len(h) != 1 {
				t.Errorf("%s: %d entries", name, len(h))
			}
			second <- err
		}()
		must(t, ended(t, second), context.DeadlineExceeded)
	}
	select {
	case err := <-first:
		t.Errorf("the turn under way ended: %v", err)
	default:
	}
	release()
	must(t, ended(t, first), nil)
}

func TestSessionIDsAreOneAtATime(t *testing.T) {
	h := open(t, nil)
	first, err := h.Open(window.Opening{Key: store.Key{ID: "mine"}})
	must(t, err, nil)
	_, err = h.Open(window.Opening{Key: store.Key{ID: "mine"}})
	must(t, err, journal.ErrSessionExists)
	must(t, first.Close(), nil)
	again, err := h.Open(window.Opening{Key: store.Key{ID: "mine"}})
	must(t, err, nil)
	must(t, first.Close(), nil) // closing twice is harmless, also to the session that has the id now
	_, err = h.Open(window.Opening{Key: store.Key{ID: "mine"}})
	must(t, err, journal.ErrSessionExists)
	add(t, again, says(content.Human, "x"))
	must(t, h.Close(), nil)
	_, err = h.Open(window.Opening{})
	must(t, err, journal.ErrClosed)
}

func TestUsageThatTheProviderReportedCounts(t *testing.T) {
	s := begin(t, open(t, nil), map[string]any{"model.contextLimit": 10_000,
		"compression.strategy": "top-down-truncation"})
	for i := range 20 {
		add(t, s, says(content.Human, fmt.Sprint("question ", i)), says(content.AI, strings.Repeat("answer ", 100)))
	}
	if p := prepareTurn(t, s); p.Outcome.Compress.Kind != "" {
		t.Fatalf("compressed at %d tokens", p.Tokens)
	}
	must(t, s.ReportUsage(t.Context(), 9_000, 0), nil)
	if p := prepareTurn(t, s); p.Outcome.Compress.Kind == "" || p.Outcome.Compress.Reason != sdk.ReasonThreshold {
		t.Errorf("not compressed: %+v", p.Outcome)
	}
}

func TestManySessionsAtOnce(t *testing.T) {
	h := open(t, map[string]any{"model.contextLimit": 3000})
	var wg sync.WaitGroup
	for i := range 24 {
		strategy := []string{"high-density", "top-down-truncation", "gate"}[i%3]
		wg.Go(func() {
			s, err := h.Open(window.Opening{Settings: map[string]any{"compression.strategy": strategy}})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for k := range 20 {
				call := content.ToolCall{ID: fmt.Sprint(k), Name: "read_file",
					Parameters: []byte(`{"file_path":"a.go"}`)}
				_, err := s.Add(t.Context(), window.Entries(says(content.Human, fmt.Sprint("question ", k)),
					content.Content{Speaker: content.AI, Blocks: []content.Block{call}},
					content.Content{Speaker: content.Tool,
						Blocks: []content.Block{content.ToolResponse{CallID: call.ID,
							ToolName: call.Name}.WithResultText(strings.Repeat("line\n", 100))}},
					says(content.AI, "answer")))
				if err != nil {
					t.Error(err)
					return
				}
				p, err := s.Prepare(t.Context(), window.Sending{})
				var overflow *prepare.ContextOverflowError
				if err != nil && !errors.As(err, &overflow) {
					t.Errorf("%s: %v", strategy, err)
					return
				}
				if err := accepts(p.Contents(), false); err != nil {
					t.Errorf("%s: %v", strategy, err)
				}
			}
		})
	}
	// Meanwhile sessions come and go, and entries are added to one that is being prepared.
	wg.Go(func() {
		s := begin(t, h, nil)
		var adding sync.WaitGroup
		adding.Go(func() {
			for k := range 200 {
				if _, err := s.Add(t.Context(), window.Entries(says(content.Human, fmt.Sprint(k)))); err != nil {
					t.Error(err)
				}
			}
		})
		for range 10 {
			if _, err := s.Prepare(t.Context(), window.Sending{}); err != nil {
				t.Error(err)
			}
		}
		adding.Wait()
		if n := len(owned(t, s).Entries); n != 200 {
			t.Errorf("%d of 200 entries are there", n)
		}
	})
	wg.Wait()
}

// The encoding is free until something was added: choosing it while the first entry comes in is no data race, and the
// entry counts as one or the other says.
func TestAnEncodingIsChosenWhileEntriesComeIn(t *testing.T) {
	h := open(t, nil)
	s, err := h.Open(window.Opening{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := s.Add(t.Context(), window.Entries(content.Content{Speaker: content.Human,
			Blocks: []content.Block{content.Text{Text: "hello"}}})); err != nil {
			t.Error(err)
		}
	})
	wg.Go(func() {
		if err := s.Set(t.Context(), "model.encoding", "cl100k_base"); err != nil && !errors.Is(err, window.ErrFixed) {
			t.Error(err)
		}
	})
	wg.Wait()
	if n := len(owned(t, s).Entries); n != 1 {
		t.Errorf("%d entries, want 1", n)
	}
}

// Ids of different owners are apart: no one learns from an error that another has a session.
func TestSessionsOfDifferentOwners(t *testing.T) {
	h := open(t, nil)
	for _, owner := range []string{"", "alice", "bob"} {
		s, err := h.Open(window.Opening{Key: store.Key{Owner: owner, ID: "s"}})
		if err != nil {
			t.Fatalf("%q: %v", owner, err)
		}
		if _, err := s.Add(t.Context(), window.Entries()); err != nil || s.ID() != "s" {
			t.Errorf("%q: %v, %v", owner, s.ID(), err)
		}
		if _, err := h.Open(window.Opening{Key: store.Key{Owner: owner, ID: "s"}}); !errors.Is(err, journal.ErrSessionExists) {
			t.Errorf("%q: the same id again: %v", owner, err)
		}
	}
}
