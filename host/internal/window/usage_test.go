package window_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

// What a provider's reports teach holds for later sessions with the same model: how it counts, not what an agent's
// system prompt counts.
func TestLaterSessionsCountAsTheProviderDoes(t *testing.T) {
	h := open(t, map[string]any{"model.name": "claude-x"})
	first := begin(t, h, nil)
	for range 30 {
		add(t, first, says(content.Human, strings.Repeat("one two three ", 700)))
		p := prepareTurn(t, first)
		must(t, first.ReportUsage(t.Context(), 10_000+p.Tokens*3/2, 0), nil)
	}
	got := prepareTurn(t, first).Outcome
	if c := got.Calibration; c == nil || c.Ratio < 1.4 || c.Ratio > 1.5 || c.Samples != 30 {
		t.Errorf("calibration %+v", c)
	}
	if want := 10_000 + got.Tokens*3/2; got.Projected < want-200 || got.Projected > want+200 {
		t.Errorf("%d tokens are projected, the provider will count %d", got.Projected, want)
	}
	for model, scaled := range map[string]bool{"claude-x": true, "other": false} {
		s := begin(t, h, map[string]any{"model.name": model})
		add(t, s, says(content.Human, strings.Repeat("one two three ", 1000)))
		got := prepareTurn(t, s).Outcome
		if (float64(got.Projected) > 1.3*float64(got.Tokens)) != scaled || got.Projected > 2*got.Tokens {
			t.Errorf("%s: %d tokens are projected for %d", model, got.Projected, got.Tokens)
		}
	}
}

func TestAnotherModelIsLearnedAnew(t *testing.T) {
	h := open(t, map[string]any{"model.name": "claude-x"})
	s := begin(t, h, nil)
	for range 30 {
		add(t, s, says(content.Human, strings.Repeat("one two three ", 700)))
		must(t, s.ReportUsage(t.Context(), 10_000+prepareTurn(t, s).Tokens*3/2, 0), nil)
	}
	must(t, s.Set(t.Context(), "model.name", "claude-y"), nil)
	p := prepareTurn(t, s)
	if p.Outcome.Projected != p.Tokens {
		t.Errorf("nothing is known of claude-y: %d projected, %d counted (%+v)", p.Outcome.Projected, p.Tokens,
			p.Outcome.Calibration)
	}
	must(t, s.ReportUsage(t.Context(), p.Tokens, 0), nil)
	other := begin(t, h, map[string]any{"model.name": "claude-y"})
	add(t, other, says(content.Human, strings.Repeat("one two three ", 1000)))
	if got := prepareTurn(t, other).Outcome; got.Projected > got.Tokens*11/10 {
		t.Errorf("claude-y counts as the host does: %d are projected for %d", got.Projected, got.Tokens)
	}
}

// A client may report anything: what it teaches holds for the sessions of its owner only.
func TestUsageTeachesNoOtherOwner(t *testing.T) {
	h := openOn(t, store.NewMemory(), map[string]any{"model.name": "claude-x"})
	session := func(owner, id string) *window.Session {
		s, err := h.Open(window.Opening{Key: store.Key{Owner: owner, ID: id}})
		must(t, err, nil)
		return s
	}
	first := session("a", "1")
	for range 30 {
		add(t, first, says(content.Human, strings.Repeat("one two three ", 700)))
		must(t, first.ReportUsage(t.Context(), prepareTurn(t, first).Tokens*3/2, 0), nil)
	}
	for owner, scaled := range map[string]bool{"a": true, "b": false} {
		s := session(owner, "2")
		add(t, s, says(content.Human, strings.Repeat("one two three ", 1000)))
		got := prepareTurn(t, s).Outcome
		if (float64(got.Projected) > 1.3*float64(got.Tokens)) != scaled {
			t.Errorf("%s: %d tokens are projected for %d", owner, got.Projected, got.Tokens)
		}
	}
}

// What is pending is in the request after an error, too.
func TestPendingTokensCountAfterAnError(t *testing.T) {
	s := begin(t, open(t, nil), nil)
	add(t, s, says(content.Human, strings.Repeat("one two three ", 700)))
	o := window.Sending{Pending: 20_000}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, err := s.Prepare(ctx, o)
	must(t, err, context.Canceled)
	must(t, s.ReportUsage(t.Context(), p.Tokens+20_000, 0), nil) // as counted
	p, err = s.Prepare(t.Context(), o)
	must(t, err, nil)
	if want := p.Tokens + 20_000; p.Outcome.Projected != want {
		t.Errorf("%d are projected, want %d", p.Outcome.Projected, want)
	}
}

func TestACompressKnowsWhatTheProviderAdds(t *testing.T) {
	var entries []content.Content
	for range 40 {
		entries = append(entries, says(content.Human, strings.Repeat("one two three ", 70)),
			says(content.AI, strings.Repeat("four five ", 100)))
	}
	left := func(overhead int) int {
		s := begin(t, open(t, map[string]any{"compression.strategy": "top-down-truncation",
			"model.contextLimit": 20_000}), nil)
		add(t, s, entries...)
		counted := owned(t, s).Tokens
		must(t, s.ReportUsage(t.Context(), counted+overhead, counted), nil)
		return prepareTurn(t, s).Tokens
	}
	if none, some := left(5_000), left(10_000); some >= none-2000 {
		t.Errorf("%d and %d tokens are left in addition to 5,000 and 10,000 that the provider adds", none, some)
	}
}

func TestWhatWasCountedIsNotCountedAgain(t *testing.T) {
	h := open(t, nil)
	entries := []content.Content{says(content.Human, "one two three"), says(content.AI, "four"),
		says(content.Human, "five six")}
	counted, err := h.Count(t.Context(), entries)
	must(t, err, nil)
	for name, settings := range map[string]map[string]any{"in the same encoding": nil,
		"in another": {"model.encoding": "cl100k_base"}} {
		a, b := begin(t, h, settings), begin(t, h, settings)
		add(t, a, entries...)
		for i := range entries {
			_, err := b.Add(t.Context(), window.Addition{Counted: counted.Slice(i, i+1), Judge: window.Opaque})
			must(t, err, nil)
		}
		if diff := cmp.Diff(prepareTurn(t, a).Contents(), prepareTurn(t, b).Contents()); diff != "" ||
			owned(t, a).Tokens != owned(t, b).Tokens {
			t.Errorf("%s: %d and %d tokens%s", name, owned(t, a).Tokens, owned(t, b).Tokens, diff)
		}
	}
	_, err = begin(t, h, nil).Add(t.Context(), window.Addition{Counted: window.Counted{}, Judge: window.Opaque})
	must(t, err, nil)
	bad, err := h.Count(t.Context(), []content.Content{{Speaker: "robot"}})
	must(t, err, nil)
	_, err = begin(t, h, nil).Add(t.Context(), window.Addition{Counted: bad, Judge: window.Opaque})
	must(t, err, window.ErrInvalidEntry)
}

// With real plugins: a request that no compression can make fit is made to fit all the same.
func TestTheHardLimitHolds(t *testing.T) {
	for _, strategy := range []string{"high-density", "top-down-truncation"} {
		t.Run(strategy, func(t *testing.T) {
			s := begin(t, open(t, map[string]any{"compression.strategy": strategy, "model.contextLimit": 4000,
				"compression.preserveThreshold": 1}), nil)
			add(t, s, says(content.Human, "look at both files"))
			for _, id := range []string{"1", "2", "3"} {
				add(t, s, content.Content{Speaker: content.AI,
					Blocks: []content.Block{content.ToolCall{ID: id, Name: "run", Parameters: []byte(`{}`)}}},
					content.Content{Speaker: content.Tool,
						Blocks: []content.Block{content.ToolResponse{CallID: id, ToolName: "run",
							Result: content.String(strings.Repeat("line of output ", 600))}}})
			}
			p := prepareTurn(t, s)
			if p.Tokens > 4000 {
				t.Fatalf("%d tokens: %+v", p.Tokens, p.Outcome.Ladder)
			}
			if err := accepts(p.Contents(), false); err != nil {
				t.Error(err)
			}
			if strategy == "high-density" && !slices.ContainsFunc(p.Outcome.Ladder,
				func(l outcome.LadderStep) bool { return l.Rung == outcome.RungResults }) {
				t.Errorf("ladder %+v", p.Outcome.Ladder)
			}
			if got := texts(p.Contents())[0]; strategy == "high-density" && got != "look at both files" {
				t.Errorf("what the person said is %q", got)
			}
		})
	}
}

// With a transcript nothing is gone for good: what the ladder took comes back by the id that stands in its place.
func TestWhatWasRemovedComesBack(t *testing.T) {
	s := begin(t, open(t, map[string]any{"transcript.dir": t.TempDir(), "compression.strategy": "high-density",
		"model.contextLimit": 1600, "compression.preserveThreshold": 1}), nil)
	result := strings.Repeat("line of output ", 500)
	// Without the first result the history is under the compress target, so that nothing else has to go.
	for i, result := range []string{result, strings.Repeat("line of output ", 60)} {
		id := strconv.Itoa(i + 1)
		add(t, s, content.Content{Speaker: content.AI,
			Blocks: []content.Block{content.ToolCall{ID: id, Name: "run", Parameters: []byte(`{}`)}}},
			content.Content{Speaker: content.Tool,
				Blocks: []content.Block{content.ToolResponse{CallID: id, ToolName: "run",
					Result: content.String(result)}}})
	}
	p := prepareTurn(t, s)
	if left := p.Contents()[1].Blocks[0].(content.ToolResponse).ResultText(); !strings.Contains(left, "entry e2]") {
		t.Fatalf("in the place of the result stands %.200s", left)
	}
	for id, entries := range map[string]int{"e2": 1, "1": 2} {
		got, err := s.Originals(t.Context(), id)
		must(t, err, nil)
		if len(got) != entries || got[entries-1].Blocks[0].(content.ToolResponse).ResultText() != result {
			t.Errorf("%s: %v", id, got)
		}
	}
	_, err := s.Originals(t.Context(), "e99")
	must(t, err, journal.ErrNotRecorded)
}
