package history_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
)

func human(text string) content.Content {
	return content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: text}}}
}

func says(text string) content.Content {
	return content.Content{Speaker: content.AI, Blocks: []content.Block{content.Text{Text: text}}}
}

// thinks is an entry of the AI that goes without a mark: it says nothing.
func thinks(text string) content.Content {
	return content.Content{Speaker: content.AI, Blocks: []content.Block{content.Thinking{Thought: text}}}
}

func calls(ids ...string) content.Content {
	c := content.Content{Speaker: content.AI}
	for _, id := range ids {
		c.Blocks = append(c.Blocks, content.ToolCall{ID: id, Name: "run"})
	}
	return c
}

func answers(ids ...string) content.Content {
	c := content.Content{Speaker: content.Tool}
	for _, id := range ids {
		c.Blocks = append(c.Blocks, content.ToolResponse{CallID: id, ToolName: "run",
			Result: content.String("result of " + id)})
	}
	return c
}

// count is a token counter for tests: 3 for an entry and 10 for each block.
func count(c content.Content) int { return 3 + 10*len(c.Blocks) }

func counts(_ context.Context, entries []content.Content) ([]history.Count, error) {
	out := make([]history.Count, len(entries))
	for i, c := range entries {
		out[i].Tokens = count(c)
		for range c.Blocks {
			out[i].Blocks = append(out[i].Blocks, 10)
		}
	}
	return out, nil
}

func of(t *testing.T, entries ...content.Content) *history.History {
	t.Helper()
	h := history.New()
	add(h, entries...)
	return h
}

func add(h *history.History, entries ...content.Content) {
	n, _ := counts(context.Background(), entries)
	h.Append(entries, n)
}

// sketch shows a history in one line an entry.
func sketch(entries []content.Content) []string {
	var out []string
	for _, c := range entries {
		s := string(c.Speaker) + ":"
		for _, b := range c.Blocks {
			switch b := b.(type) {
			case content.Text:
				s += " " + b.Text
			case content.ToolCall:
				s += " call " + b.ID
			case content.ToolResponse:
				s += " answer " + b.CallID
				if b.Failed() {
					s += "!"
				}
			}
		}
		out = append(out, s)
	}
	return out
}

func TestApplyOptimize(t *testing.T) {
	h := of(t, human("a"), calls("1", "2"), answers("1", "2"), thinks("b"))
	s := h.Snapshot()
	plan, err := s.PlanOptimize(t.Context(), []rewrite.Edit{
		{Index: 1, Blocks: []rewrite.BlockPiece{{Keep: 1}}},
		{Index: 2, Blocks: []rewrite.BlockPiece{{Keep: 1}}},
		{Index: 3, Remove: true},
	}, counts)
	if err != nil {
		t.Fatal(err)
	}
	add(h, human("late"))
	after, err := h.Apply(plan)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"human: a", "ai: call 2", "tool: answer 2", "human: late"}
	if diff := cmp.Diff(want, sketch(after.Contents())); diff != "" {
		t.Error(diff)
	}
	if after.Tokens != 52 {
		t.Errorf("the total is %d tokens, want 52", after.Tokens)
	}
	if err := h.Recount(count); err != nil {
		t.Error(err)
	}
	if after.Entries[1].ID != s.Entries[1].ID || after.Entries[0] != s.Entries[0] {
		t.Error("an edited entry keeps its id, an untouched one is the same record")
	}
	if _, err := h.Apply(plan); !errors.Is(err, history.ErrStale) {
		t.Errorf("applying a plan twice gives %v, want ErrStale", err)
	}
}

func TestOptimizeAnswersThatAreRefused(t *testing.T) {
	opaque := content.Content{Speaker: content.AI,
		Blocks: []content.Block{content.Opaque{JSON: []byte(`{"type":"new"}`)}, content.Text{Text: "x"}}}
	entries := []content.Content{human("a"), calls("1"), answers("1"), opaque, calls("2")}
	keep := func(n ...int) (pieces []rewrite.BlockPiece) {
		for _, k := range n {
			pieces = append(pieces, rewrite.BlockPiece{Keep: k})
		}
		return pieces
	}
	for name, c := range map[string]struct {
		edits []rewrite.Edit
		want  error
	}{
		"index below zero":   {[]rewrite.Edit{{Index: -1, Remove: true}}, history.ErrOutOfBounds},
		"index past the end": {[]rewrite.Edit{{Index: 5, Remove: true}}, history.ErrOutOfBounds},
		"removed twice": {[]rewrite.Edit{{Index: 1, Remove: true}, {Index: 1, Remove: true}},
			history.ErrConflict},
		"removed and replaced": {[]rewrite.Edit{{Index: 1, Remove: true}, {Index: 1, Blocks: keep(0)}},
			history.ErrConflict},
		"human entry removed":           {[]rewrite.Edit{{Index: 0, Remove: true}}, history.ErrHumanLost},
		"human entry emptied":           {[]rewrite.Edit{{Index: 0}}, history.ErrHumanLost},
		"response without its call":     {[]rewrite.Edit{{Index: 1, Remove: true}}, history.ErrOrphaned},
		"call without its response":     {[]rewrite.Edit{{Index: 2, Remove: true}}, history.ErrUnanswered},
		"kept block out of bounds":      {[]rewrite.Edit{{Index: 1, Blocks: keep(1)}}, history.ErrOutOfBounds},
		"block kept twice":              {[]rewrite.Edit{{Index: 1, Blocks: keep(0, 0)}}, history.ErrTwice},
		"unknown block dropped":         {[]rewrite.Edit{{Index: 3, Blocks: keep(1)}}, history.ErrOpaqueChanged},
		"entry with unknown block gone": {[]rewrite.Edit{{Index: 3, Remove: true}}, history.ErrOpaqueChanged},
		"call that still waits removed": {[]rewrite.Edit{{Index: 4, Remove: true}}, history.ErrPendingRemoved},
		"new block that is no valid call": {[]rewrite.Edit{{Index: 1,
			Blocks: []rewrite.BlockPiece{{Block: content.ToolCall{}}}}}, history.ErrInvalidEntry},
	} {
		t.Run(name, func(t *testing.T) {
			h := of(t, entries...)
			_, err := h.Snapshot().PlanOptimize(t.Context(), c.edits, counts)
			var answer *history.AnswerError
			if !errors.Is(err, c.want) || !errors.As(err, &answer) {
				t.Errorf("got %v, want an AnswerError around %q", err, c.want)
			}
		})
	}
}

// Ids repeat: removing the call of one pair and the response of another leaves every response with some call, and is
// wrong all the same.
func TestPairsWithOneIDAreNotMixedUp(t *testing.T) {
	h := of(t, calls("x"), answers("x"), human("and again"), calls("x"), answers("x"))
	_, err := h.Snapshot().PlanOptimize(t.Context(), []rewrite.Edit{{Index: 1, Remove: true}, {Index: 3, Remove: true}},
		counts)
	if !errors.Is(err, history.ErrMismatched) {
		t.Errorf("got %v, want ErrMismatched", err)
	}
}

const summary = "<state_snapshot>we mend the parser</state_snapshot>"

func TestApplyCompress(t *testing.T) {
	h := of(t, human("a"), says(""), calls("1"), answers("1"), human("b"), calls("2"))
	s := h.Snapshot()
	curated := history.Curate(s.Entries)
	if len(curated) != 5 {
		t.Fatalf("curated has %d entries, want 5: the blank one goes", len(curated))
	}
	plan, err := s.PlanCompress(t.Context(), curated, "test",
		[]rewrite.Piece{rewrite.Added{Content: human(summary)}, rewrite.Keep{From: 3, To: 5}}, counts)
	if err != nil {
		t.Fatal(err)
	}
	add(h, answers("2")) // arrives while the plugin works
	after, err := h.Apply(plan)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"human: " + summary, "human: b", "ai: call 2", "tool: answer 2"}
	if diff := cmp.Diff(want, sketch(after.Contents())); diff != "" {
		t.Error(diff)
	}
	if err := h.Recount(count); err != nil {
		t.Error(err)
	}
}

func TestCompressAnswersThatAreRefused(t *testing.T) {
	entries := []content.Content{human("a"), calls("1"), answers("1"), human("b"), calls("2")}
	for name, c := range map[string]struct {
		pieces []rewrite.Piece
		want   error
	}{
		"nothing":            {nil, history.ErrEmptied},
		"range past the end": {[]rewrite.Piece{rewrite.Keep{From: 3, To: 6}}, history.ErrOutOfBounds},
		"empty range":        {[]rewrite.Piece{rewrite.Keep{From: 3, To: 3}}, history.ErrOutOfBounds},
		"kept twice": {[]rewrite.Piece{rewrite.Keep{From: 0, To: 5}, rewrite.Keep{From: 4, To: 5}},
			history.ErrTwice},
		"kept out of order": {[]rewrite.Piece{rewrite.Keep{From: 3, To: 5}, rewrite.Keep{From: 0, To: 1}},
			history.ErrOutOfOrder},
		"edited to nothing": {[]rewrite.Piece{rewrite.Keep{From: 0, To: 2}, rewrite.Edited{Index: 2}},
			history.ErrInvalidEntry},
		"edited past the end":           {[]rewrite.Piece{rewrite.Edited{Index: 9}}, history.ErrOutOfBounds},
		"response without its call":     {[]rewrite.Piece{rewrite.Keep{From: 2, To: 5}}, history.ErrOrphaned},
		"call that still waits removed": {[]rewrite.Piece{rewrite.Keep{From: 0, To: 4}}, history.ErrPendingRemoved},
		"new response without a call": {[]rewrite.Piece{rewrite.Added{Content: answers("1")},
			rewrite.Keep{From: 3, To: 5}}, history.ErrOrphaned},
		"new response to no call": {[]rewrite.Piece{rewrite.Added{Content: answers("9")},
			rewrite.Keep{From: 3, To: 5}}, history.ErrResultChanged},
		"a person reworded": {[]rewrite.Piece{rewrite.Edited{Index: 0, Blocks: []rewrite.BlockPiece{
			{Block: content.Text{Text: "a, and push it"}}}}, rewrite.Keep{From: 1, To: 5}}, history.ErrHumanChanged},
		"a strategy as a person": {[]rewrite.Piece{rewrite.Added{Content: human("push it")},
			rewrite.Keep{From: 0, To: 5}}, history.ErrHumanMade},
		"new entry without a speaker": {[]rewrite.Piece{rewrite.Added{Content: content.Content{}},
			rewrite.Keep{From: 3, To: 5}}, history.ErrInvalidEntry},
	} {
		t.Run(name, func(t *testing.T) {
			h := of(t, entries...)
			s := h.Snapshot()
			if _, err := s.PlanCompress(t.Context(), s.Entries, "test", c.pieces, counts); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if !slices.EqualFunc(h.Snapshot().Contents(), entries, content.Content.Equal) {
				t.Error("the history changed")
			}
		})
	}
}

// A strategy drops a call that was abandoned, and its response arrives while it works: it must not be orphaned.
func TestLateResponseKeepsItsCall(t *testing.T) {
	h := of(t, calls("1"), human("never mind"), says("ok"), human("go on"))
	s := h.Snapshot()
	plan, err := s.PlanCompress(t.Context(), s.Entries, "test", []rewrite.Piece{rewrite.Keep{From: 1, To: 4}}, counts)
	if err != nil {
		t.Fatal(err)
	}
	add(h, answers("1"))
	if _, err := h.Apply(plan); !errors.Is(err, history.ErrOrphaned) {
		t.Errorf("got %v, want ErrOrphaned", err)
	}
	if diff := cmp.Diff([]string{"ai: call 1", "human: never mind", "ai: ok", "human: go on", "tool: answer 1"},
		sketch(h.Snapshot().Contents())); diff != "" {
		t.Errorf("a refused plan changed the history:\n%s", diff)
	}
}

func TestCountFailureLeavesTheHistory(t *testing.T) {
	h := of(t, human("a"), says("b"))
	broken := errors.New("no counts today")
	_, err := h.Snapshot().PlanOptimize(t.Context(),
		[]rewrite.Edit{{Index: 1, Blocks: []rewrite.BlockPiece{{Block: content.Text{Text: "[c]"}}}}},
		func(context.Context, []content.Content) ([]history.Count, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the counter's error", err)
	}
}

func TestView(t *testing.T) {
	stray := content.Content{Speaker: "robot", Blocks: []content.Block{content.Text{Text: "?"}}}
	for name, c := range map[string]struct {
		entries  []content.Content
		want     []string
		pending  []string
		problems []outcome.ProblemKind
	}{
		"empty": {nil, nil, nil, nil},
		"as it is": {[]content.Content{human("a"), calls("1"), answers("1"), says("b")},
			[]string{"human: a", "ai: call 1", "tool: answer 1", "ai: b"}, nil, nil},
		"blank ai entry": {[]content.Content{human("a"), says(" "), human("b")},
			[]string{"human: a", "human: b"}, nil, nil},
		"pending call": {[]content.Content{human("a"), calls("1", "2"), answers("2")},
			[]string{"human: a", "ai: call 1 call 2", "tool: answer 2"}, []string{"1"}, nil},
		"interrupted by a person": {[]content.Content{calls("1", "2"), answers("1"), human("stop")},
			[]string{"ai: call 1 call 2", "tool: answer 1", "tool: answer 2!",
				"human: stop"}, nil, []outcome.ProblemKind{outcome.UnansweredCall}},
		"never answered": {[]content.Content{calls("1"), human("stop"), says("ok")},
			[]string{"ai: call 1", "tool: answer 1!", "human: stop",
				"ai: ok"}, nil, []outcome.ProblemKind{outcome.UnansweredCall}},
		"answer after a person": {[]content.Content{calls("1"), human("hurry"), answers("1"), says("ok")},
			[]string{"ai: call 1", "tool: answer 1", "human: hurry", "ai: ok"}, nil, nil},
		"answer after the ai": {[]content.Content{calls("1"), human("x"), says("ok"), answers("1")},
			[]string{"ai: call 1", "tool: answer 1!", "human: x", "ai: ok"}, nil,
			[]outcome.ProblemKind{outcome.UnansweredCall,
				outcome.OrphanedResponse}},
		"orphan": {[]content.Content{human("a"), answers("1"), says("b")},
			[]string{"human: a", "ai: b"}, nil, []outcome.ProblemKind{outcome.OrphanedResponse}},
		"answered twice": {[]content.Content{calls("1"), answers("1", "1"), says("b")},
			[]string{"ai: call 1", "tool: answer 1", "ai: b"}, nil, []outcome.ProblemKind{outcome.OrphanedResponse}},
		"one id twice in one entry": {[]content.Content{calls("1", "1"), answers("1", "1"), says("b")},
			[]string{"ai: call 1 call 1", "tool: answer 1 answer 1", "ai: b"}, nil, nil},
		"one id twice, one after": {[]content.Content{calls("1"), answers("1"), calls("1"), answers("1")},
			[]string{"ai: call 1", "tool: answer 1", "ai: call 1", "tool: answer 1"}, nil, nil},
		"unknown speaker": {[]content.Content{human("a"), stray, says("b")}, []string{"human: a", "ai: b"}, nil,
			[]outcome.ProblemKind{outcome.UnknownSpeaker}},
		"calls in two entries": {[]content.Content{calls("1"), calls("2"), answers("1"), answers("2"), says("b")},
			[]string{"ai: call 1", "ai: call 2", "tool: answer 1", "tool: answer 2", "ai: b"}, nil, nil},
		"unanswered, and the ai went on": {[]content.Content{human("a"), calls("1"), calls("3"), answers("3")},
			[]string{"human: a", "ai: call 1", "tool: answer 1!", "ai: call 3", "tool: answer 3"}, nil,
			[]outcome.ProblemKind{outcome.UnansweredCall}},
		"one of two, and the ai went on": {[]content.Content{calls("1", "2"), calls("3", "4"), answers("1", "3")},
			[]string{"ai: call 1 call 2", "ai: call 3 call 4", "tool: answer 1 answer 3", "tool: answer 2!"},
			[]string{"4"}, []outcome.ProblemKind{outcome.UnansweredCall}},
		"calls in two entries, the first is answered": {[]content.Content{calls("1"), calls("2"), answers("1")},
			[]string{"ai: call 1", "ai: call 2", "tool: answer 1"}, []string{"2"}, nil},
		"calls in two entries, the first late": {[]content.Content{calls("1"), calls("2"), answers("2"), answers("1")},
			[]string{"ai: call 1", "ai: call 2", "tool: answer 2", "tool: answer 1"}, nil, nil},
		"two unanswered in two runs": {[]content.Content{calls("1"), human("a"), calls("2"), human("b")},
			[]string{"ai: call 1", "tool: answer 1!", "human: a", "ai: call 2", "tool: answer 2!",
				"human: b"}, nil, []outcome.ProblemKind{outcome.UnansweredCall, outcome.UnansweredCall}},
	} {
		t.Run(name, func(t *testing.T) {
			whole := of(t, c.entries...).View(count)
			if diff := cmp.Diff(c.want, sketch(whole.Contents())); diff != "" {
				t.Errorf("history:\n%s", diff)
			}
			if diff := cmp.Diff(c.pending, whole.Pending); diff != "" {
				t.Errorf("pending:\n%s", diff)
			}
			var kinds []outcome.ProblemKind
			for _, p := range whole.Problems {
				kinds = append(kinds, p.Kind)
			}
			if diff := cmp.Diff(c.problems, kinds); diff != "" {
				t.Errorf("problems:\n%s", diff)
			}
			total := 0
			for _, c := range whole.Contents() {
				total += count(c)
			}
			if whole.Tokens != total {
				t.Errorf("the view says %d tokens and counts %d", whole.Tokens, total)
			}

			h := history.New() // entry by entry, with a view after each, it is the same
			last := h.View(count)
			for i, e := range c.entries {
				add(h, e)
				now := h.View(count)
				entries, tokens := now.Shared(last)
				want, wantTokens := beginning(now.Entries, last.Entries)
				if entries != want || tokens != wantTokens {
					t.Errorf("with entry %d the view shares %d entries and %d tokens with the one before, "+
						"want %d and %d", i,
						entries, tokens, want, wantTokens)
				}
				last = now
			}
			if diff := cmp.Diff(whole, last, cmpopts.IgnoreUnexported(history.View{}),
				cmp.Comparer(func(a, b uint64) bool { return true })); diff != "" {
				t.Errorf("built step by step it differs:\n%s", diff)
			}
		})
	}
}

// beginning is how many entries two views have in common from the start, and their tokens.
func beginning(a, b []*history.Entry) (n, tokens int) {
	for n < min(len(a), len(b)) && cmp.Equal(a[n].Content, b[n].Content) {
		tokens += a[n].Tokens
		n++
	}
	return n, tokens
}

// BenchmarkTurn adds three entries to a history and takes its view.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{500, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			h := history.New()
			for i := range n / 4 {
				add(h, human("a"), calls(fmt.Sprint(i)), answers(fmt.Sprint(i)), says("b"))
			}
			h.View(count)
			b.ReportAllocs()
			for b.Loop() {
				add(h, calls("x"), answers("x"), says("b"))
				h.View(count)
			}
		})
	}
}

// TestWhatIsAppendedAfterAMarkIsNotSeen, whatever is rewritten before and after it.
func TestWhatIsAppendedAfterAMarkIsNotSeen(t *testing.T) {
	h := of(t, thinks("a"), human("b"), calls("1"), answers("1"))
	point := h.Point()
	before, view := h.Snapshot(), h.View(count)
	same := func(when string, want history.Snapshot) {
		t.Helper()
		got := h.SnapshotAt(&point)
		if diff := cmp.Diff(want.Contents(), got.Contents()); diff != "" {
			t.Errorf("%s:\n%s", when, diff)
		}
		if got.Tokens != want.Tokens || got.Revision != want.Revision || got.Added != want.Added ||
			got.Epoch != want.Epoch {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
		v := h.ViewAt(&point, count)
		if diff := cmp.Diff(got.Contents(), v.Contents()); diff != "" || v.Tokens != got.Tokens ||
			v.Revision != got.Revision {
			t.Errorf("%s: the view has %d tokens, revision %d:\n%s", when, v.Tokens, v.Revision, diff)
		}
	}
	add(h, human("late"), thinks("later"))
	add(h, calls("2"))
	same("after additions", before)
	h.View(count) // settles what came after the point
	same("after a later view", before)
	if diff := cmp.Diff(view.Contents(), h.ViewAt(&point, count).Contents()); diff != "" {
		t.Errorf("the view:\n%s", diff)
	}

	plan := must(h.SnapshotAt(&point).PlanOptimize(t.Context(), []rewrite.Edit{{Index: 0, Remove: true}}, counts))
	if _, err := h.Apply(plan); err != nil {
		t.Fatal(err)
	}
	rewritten := before
	rewritten.Entries = before.Entries[1:]
	rewritten.Tokens -= count(thinks("a"))
	rewritten.Revision++
	rewritten.Epoch++
	same("after a rewrite up to the point", rewritten)
	if got := h.Snapshot(); len(got.Entries) != 6 || got.Revision != rewritten.Revision+2 ||
		got.Added != before.Added+3 {
		t.Errorf("all of it: %d entries, %+v", len(got.Entries), got)
	}
	add(h, answers("2"))
	same("after one more addition", rewritten)

	plan = must(h.Snapshot().PlanOptimize(t.Context(), []rewrite.Edit{{Index: 4, Remove: true}}, counts))
	if _, err := h.Apply(plan); err != nil {
		t.Fatal(err)
	}
	add(h, human("latest"))
	if got := h.SnapshotAt(&point); len(got.Entries) != 6 || got.Revision != h.Snapshot().Revision-1 {
		t.Errorf("after a rewrite beyond the point: %d entries, revision %d", len(got.Entries), got.Revision)
	}
}

func must(p *history.Plan, err error) *history.Plan {
	if err != nil {
		panic(err)
	}
	return p
}
