package prepare_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/keep"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// sized counts a token for each ten bytes of text, result or error, and ten for a call.
type sized struct{}

func (sized) block(b content.Block) int32 {
	switch b := b.(type) {
	case content.Text:
		return int32(len(b.Text)+9) / 10
	case content.ToolResponse:
		return int32(len(b.Result)+9)/10 + int32(len(b.Error)+9)/10
	default:
		return 10
	}
}

func (s sized) Entry(c content.Content) int {
	n := 0
	for _, b := range c.Blocks {
		n += int(s.block(b))
	}
	return n
}

func (s sized) All(_ context.Context, entries []content.Content) ([]history.Count, error) {
	out := make([]history.Count, len(entries))
	for i, c := range entries {
		out[i].Tokens = s.Entry(c)
		for _, b := range c.Blocks {
			out[i].Blocks = append(out[i].Blocks, s.block(b))
		}
	}
	return out, nil
}

// text is an entry of so many tokens.
func text(speaker content.Speaker, tokens int) content.Content {
	return content.Content{Speaker: speaker,
		Blocks: []content.Block{content.Text{Text: strings.Repeat("x", 10*tokens)}}}
}

// exchange is a call and its result of so many tokens; the call counts ten.
func exchange(id string, tokens int) []content.Content {
	return []content.Content{
		{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: id, Name: "run", Parameters: []byte(`{}`)}}},
		{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: id, ToolName: "run",
			Result: content.String(strings.Repeat("y", 10*tokens-2))}}},
	}
}

// emergency is a window over entries whose strategy has nothing to compress.
func emergency(limit int, entries ...content.Content) *fixture {
	h := history.New()
	n, _ := sized{}.All(context.Background(), entries)
	h.Append(entries, n)
	s := &scripted{mode: sdk.ModeThreshold}
	f := &fixture{Pipeline: prepare.New("s", h, sized{}), history: h, strategy: s, req: prepare.Request{
		Strategy: s, Settings: prepare.Settings{Ladder: true},
	}}
	f.req.Settings.ContextLimit = limit
	return f
}

// rewrote reports whether a turn changed what is sent.
func rewrote(o outcome.Outcome) bool {
	return slices.ContainsFunc(o.Changes, func(c outcome.Change) bool { return c.Kind.Sent() })
}

func rungs(steps []outcome.LadderStep) (names []outcome.Rung) {
	for _, s := range steps {
		names = append(names, s.Rung)
	}
	return names
}

func joined(parts ...[]content.Content) (all []content.Content) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// interrupted is an entry of the AI with text of so many tokens and a call that was never answered.
func interrupted(id string, tokens int) content.Content {
	c := text(content.AI, tokens)
	c.Blocks = append(c.Blocks, content.ToolCall{ID: id, Name: "run", Parameters: []byte(`{}`)})
	return c
}

func TestAnInterruptedCallGoesBeforeWhatPeopleSaid(t *testing.T) {
	f := emergency(200, text(content.Human, 80), interrupted("a", 120), text(content.Human, 20), text(content.AI, 5))
	got := f.prepare(t)
	if diff := cmp.Diff([]outcome.Rung{outcome.RungExchanges}, rungs(got.Ladder)); diff != "" {
		t.Error(diff)
	}
}

func TestALongErrorDoesNotKeepOtherResults(t *testing.T) {
	failed := exchange("e", 1)
	failed[1].Blocks[0] = content.ToolResponse{CallID: "e", ToolName: "run", Result: content.String(""),
		Error: strings.Repeat("e", 4500)}
	f := emergency(2000, joined([]content.Content{text(content.Human, 20)}, failed, exchange("a", 480),
		exchange("b", 470), exchange("c", 460), exchange("d", 450), exchange("f", 10))...)
	if diff := cmp.Diff([]outcome.Rung{outcome.RungResults}, rungs(f.prepare(t).Ladder)); diff != "" {
		t.Error(diff)
	}
}

// What no request holds makes no room, however much it counts.
func TestWithheldResponsesMakeNoRoom(t *testing.T) {
	var entries []content.Content
	for i := range 50 {
		entries = append(entries, exchange(fmt.Sprint("o", i), 100)[1]) // without its call
	}
	f := emergency(80, append(append(entries, text(content.Human, 30)), exchange("b", 90)...)...)
	_, got, err := f.Prepare(t.Context(), f.req)
	var overflow *prepare.ContextOverflowError
	if !errors.As(err, &overflow) || rewrote(got) {
		t.Errorf("%v; %+v", err, got.Changes)
	}
}

// The line that stands for a result says how large it was, even if a later emergency comes by.
func TestALineIsNotReplacedAgain(t *testing.T) {
	four := func(id string) []content.Content {
		return joined(exchange(id+"1", 240), exchange(id+"2", 240), exchange(id+"3", 240), exchange(id+"4", 240),
			exchange(id+"5", 10))
	}
	f := emergency(1000, append([]content.Content{text(content.Human, 5)}, four("a")...)...)
	f.prepare(t)
	first := fmt.Sprint(f.history.Snapshot().Contents()[2])
	more := four("b")
	n, _ := sized{}.All(t.Context(), more)
	f.history.Append(more, n)
	got := f.prepare(t)
	if now := fmt.Sprint(f.history.Snapshot().Contents()[2]); now != first || len(got.Ladder) == 0 {
		t.Errorf("%s became %s (%+v)", first, now, got.Ladder)
	}
}

func TestNoAmountOfPendingTokensPasses(t *testing.T) {
	f := emergency(100, text(content.Human, 30))
	f.req.Pending = math.MaxInt
	var overflow *prepare.ContextOverflowError
	if _, got, err := f.Prepare(t.Context(), f.req); !errors.As(err, &overflow) {
		t.Errorf("%v, %d tokens projected", err, got.Projected)
	}
}

func TestWithoutTheLadderThereAreNoSteps(t *testing.T) {
	f := newFixture(12, &scripted{mode: sdk.ModeThreshold, compress: keepLast(2)})
	for _, ladder := range []bool{false, true} {
		f.req.Settings.Ladder = ladder
		if got := f.prepare(t); len(got.Ladder) > 0 {
			t.Errorf("a compress was enough: %+v", got.Ladder)
		}
	}
}

func TestWhatCannotFitIsLeftAsItIs(t *testing.T) {
	f := emergency(80, joined([]content.Content{text(content.Human, 30)}, exchange("a", 50), exchange("b", 90))...)
	_, got, err := f.Prepare(t.Context(), f.req)
	var overflow *prepare.ContextOverflowError
	if !errors.As(err, &overflow) {
		t.Fatalf("got %v, want a ContextOverflowError", err)
	}
	if overflow.Missing() != 110 || len(overflow.Largest) != 3 || overflow.Largest[0].EntryID != "e5" ||
		overflow.Largest[0].Tokens != 90 {
		t.Errorf("missing %d, held by %v", overflow.Missing(), overflow.Largest)
	}
	if rewrote(got) {
		t.Error("the history was thinned out although that is of no use")
	}
}

func TestTheLadderIsASetting(t *testing.T) {
	f := emergency(100, joined(exchange("a", 200), exchange("b", 10))...)
	f.req.Settings.Ladder = false
	var overflow *prepare.ContextOverflowError
	if _, _, err := f.Prepare(t.Context(), f.req); !errors.As(err, &overflow) || overflow.Ladder {
		t.Errorf("got %v", err)
	}
}

func TestAFailedCompressIsSeenOnceBeforeTheLadder(t *testing.T) {
	f := emergency(200, joined([]content.Content{text(content.Human, 5)}, exchange("a", 200), exchange("b", 10))...)
	broken := errors.New("the model is away")
	f.strategy.compress = func(prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error) {
		return nil, "",
			broken
	}
	if _, got, err := f.Prepare(t.Context(), f.req); !errors.Is(err, broken) || len(got.Ladder) > 0 {
		t.Fatalf("the first failure is not the agent's to see: %v, %+v", err, got.Ladder)
	}
	got := f.prepare(t)
	if !strings.Contains(got.Compress.Failed, broken.Error()) || len(got.Ladder) != 1 || got.Projected > 100 {
		t.Errorf("the session is stuck: %+v", got)
	}
}

func TestARewriteThatGainsLittleIsNotRepeated(t *testing.T) {
	f := newFixture(0, &scripted{mode: sdk.ModeThreshold})
	f.req.Settings.ContextLimit = 1000
	add(f.history, says(content.Human, 60))
	f.strategy.compress = func(c prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error) {
		return keepLast(len(c.Entries) - 3)(c)
	}
	first, second := f.prepare(t), f.prepare(t)
	if d := first.Compress.Decision; first.Compress.NoOp != outcome.NoOpDoesNotPay || d == nil ||
		d.Reason != outcome.DecidedTooLittle || first.Tokens != 600 {
		t.Errorf("20 of 600 tokens are less than 10 %%: %+v", first.Compress)
	}
	if second.Compress.NoOp != outcome.NoOpDoesNotPay || !second.Compress.Remembered {
		t.Errorf("it was asked for again: %+v", second.Compress)
	}
	add(f.history, says(content.Human, 1))
	if got := f.prepare(t); got.Compress.Remembered {
		t.Errorf("something was added: %+v", got.Compress)
	}
	add(f.history, says(content.Human, 41)) // 1020: over the hard limit, it is needed, however little it is
	if got := f.prepare(t); got.Compress.Kind != outcome.KindApplied || !got.Compress.Ineffective {
		t.Errorf("the request does not fit without it: %+v", got.Compress)
	}
}

// A strategy that gains little at the limit, as a session goes on: a rewrite makes room for many turns.
func TestTheLimitIsNoPlaceToStay(t *testing.T) {
	for _, prices := range []*pricing.List{nil, cached} {
		f := emergency(1000, text(content.Human, 10))
		f.req.Settings.Prices = prices
		f.strategy.compress = func(c prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error) {
			n := len(c.Entries) // the oldest exchange goes
			if n < 5 {
				return nil, "too-few", nil
			}
			return []rewrite.Piece{rewrite.Keep{From: 0, To: 1}, rewrite.Keep{From: 3, To: n}}, "", nil
		}
		rewrites, epoch := 0, uint64(0)
		for i := range 200 {
			more := exchange(fmt.Sprint("c", i), 20) // 30 tokens
			n, _ := sized{}.All(t.Context(), more)
			f.history.Append(more, n)
			f.prepare(t)
			if now := f.history.Snapshot().Epoch; now > epoch {
				rewrites, epoch = rewrites+1, now
			}
		}
		// 6000 tokens in all; from the target of 300 to the limit there is room for 700.
		if rewrites > 10 {
			t.Errorf("%d turns of 200 rewrote the history, with prices: %v", rewrites, prices != nil)
		}
	}
}

func TestWhatPeopleSaidCanBeKept(t *testing.T) {
	entries := joined([]content.Content{text(content.Human, 60), text(content.Human, 50)}, exchange("a", 10),
		exchange("b", 10))
	f := emergency(100, entries...)
	got := f.prepare(t)
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "words of people in 1 messages") {
		t.Errorf("warnings: %q", got.Warnings)
	}
	f = emergency(100, entries...)
	f.req.Settings.KeepHuman = true
	var overflow *prepare.ContextOverflowError
	if _, got, err := f.Prepare(t.Context(), f.req); !errors.As(err, &overflow) || rewrote(got) {
		t.Errorf("got %v", err)
	}
}

// What the model read again stays as long as anything else can go. With and without the ladder, it makes no request too
// large.
func TestWhatWasRecalledGoesLast(t *testing.T) {
	taxonomy, err := tools.ForPresets(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	recalled := exchange("a", 500)
	for i, b := range recalled {
		switch b := b.Blocks[0].(type) {
		case content.ToolCall:
			b.Name = tools.Recall
			recalled[i].Blocks[0] = b
		case content.ToolResponse:
			b.ToolName = tools.Recall
			recalled[i].Blocks[0] = b
		}
	}
	for name, tt := range map[string]struct {
		pending int
		ladder  bool
		kept    string
	}{
		"the last result is cut":           {300, true, tools.Recall},
		"nothing else is left":             {480, true, ""},
		"nothing else is left, no ladder":  {480, false, ""},
		"the strategy makes it, no ladder": {300, false, tools.Recall},
	} {
		t.Run(name, func(t *testing.T) {
			f := emergency(1000, joined([]content.Content{text(content.Human, 5)}, exchange("z", 200), recalled,
				exchange("b", 150))...)
			f.req.Settings.Tools, f.req.Settings.KeepShare, f.req.Settings.Ladder = taxonomy, 1, tt.ladder
			f.req.Pending = tt.pending
			// All goes that may, from the oldest exchange on.
			f.strategy.compress = func(c prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error) {
				var pieces []rewrite.Piece
				for i, e := range c.Entries {
					pinned := e.Content.Pinned() || i+1 < len(c.Entries) && c.Entries[i+1].Content.Pinned()
					if pinned || i == 0 || i >= len(c.Entries)-2 {
						pieces = append(pieces, rewrite.Keep{From: i, To: i + 1})
					}
				}
				if len(pieces) == len(c.Entries) {
					return nil, "no-gain", nil
				}
				return pieces, "", nil
			}
			f.prepare(t)
			kept := ""
			for _, c := range f.history.Snapshot().Contents() {
				if rule := check.KeptBy(c); rule != keep.Newest {
					kept += rule
				}
			}
			if kept != tt.kept {
				t.Errorf("kept by %q, want %q", kept, tt.kept)
			}
		})
	}
}

// Whatever the history is, the ladder makes it fit and keeps it valid, or leaves it alone and says so. The last
// message of a human always stays.
func TestTheLadderHoldsForAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var entries []content.Content
		lastHuman := ""
		var pinned []string
		for i := range rapid.IntRange(1, 30).Draw(t, "entries") {
			size := rapid.IntRange(1, 120).Draw(t, "size")
			switch rapid.SampledFrom([]string{"human", "ai", "exchange", "exchange", "interrupted", "orphan", "pinned",
				"pinned exchange", "unknown block"}).Draw(t, "kind") {
			case "human":
				c := text(content.Human, size)
				lastHuman = fmt.Sprint("human ", i)
				c.Blocks = append(c.Blocks, content.Text{Text: lastHuman})
				entries = append(entries, c)
			case "ai":
				entries = append(entries, text(content.AI, size))
			case "exchange":
				entries = append(entries, exchange(fmt.Sprint("c", i), size)...)
			case "interrupted":
				entries = append(entries, interrupted(fmt.Sprint("c", i), size))
			case "orphan":
				entries = append(entries, exchange(fmt.Sprint("c", i), size)[1])
			case "pinned":
				c := text(rapid.SampledFrom([]content.Speaker{content.Human, content.AI}).Draw(t, "speaker"), size)
				c.Blocks = append(c.Blocks, content.Text{Text: fmt.Sprint("pinned ", i, ".")})
				c.Metadata = []byte(`{"pinned":true}`)
				entries, pinned = append(entries, c), append(pinned, fmt.Sprint("pinned ", i, "."))
			case "pinned exchange":
				x := exchange(fmt.Sprint("c", i), size)
				x[1].Metadata = []byte(`{"pinned":true}`)
				entries, pinned = append(entries, x...), append(pinned, fmt.Sprint(x[1].Blocks))
			case "unknown block":
				c := text(content.AI, size)
				c.Blocks = append(c.Blocks, content.Opaque{JSON: []byte(`{"type":"novel"}`)})
				entries = append(entries, c)
			}
		}
		limit := rapid.IntRange(20, 400).Draw(t, "limit")
		f := emergency(limit, entries...)
		before := f.history.Snapshot()
		problems := len(turns.Check(before.Contents()))
		_, got, err := f.Prepare(context.Background(), f.req)
		after := f.history.Snapshot()
		var overflow *prepare.ContextOverflowError
		switch {
		case errors.As(err, &overflow):
			if rewrote(got) {
				t.Error("it was of no use and changed the history")
			}
		case err != nil:
			t.Fatal(err)
		case got.Projected > limit:
			t.Errorf("%d tokens, the limit is %d", got.Projected, limit)
		}
		if n := len(turns.Check(after.Contents())); n > problems {
			t.Errorf("%d problems, there were %d", n, problems)
		}
		if err := f.history.Recount(sized{}.Entry); err != nil {
			t.Error(err)
		}
		for _, said := range pinned {
			if !strings.Contains(fmt.Sprint(after.Contents()), said) {
				t.Errorf("the pinned %q is gone", said)
			}
		}
		if lastHuman != "" && !strings.Contains(fmt.Sprint(after.Contents()), lastHuman) {
			t.Error("the last message of a human is gone")
		}
	})
}

// Where what is not history fills the window, a smaller history does not help, so it is left alone.
func TestWithoutRoomForTheHistoryNothingIsTouched(t *testing.T) {
	entries := joined([]content.Content{text(content.Human, 5)}, exchange("a", 200), exchange("b", 10),
		exchange("c", 10))
	for name, c := range map[string]struct {
		pending, reported int // reported: the provider's count of the last request, of which 10 tokens were history
		want              string
	}{
		"impossible pending tokens": {9_999_999, 0, "alone take 9999999 of 1000 tokens"},
		"system prompt and tools":   {0, 1000, "the system prompt and tools alone take 990 of 1000 tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			f := emergency(1000, entries...)
			f.strategy.mode = sdk.ModeContinuous
			f.strategy.optimize = func(prepare.OptimizeCall) ([]rewrite.Edit, error) {
				return []rewrite.Edit{{Index: 1, Remove: true}, {Index: 2, Remove: true}}, nil
			}
			f.strategy.compress = keepLast(2)
			f.req.Pending = c.pending
			if c.reported > 0 {
				f.ReportUsage(c.reported, 10)
			}
			before := f.history.Snapshot().Revision
			view, _, err := f.Prepare(t.Context(), f.req)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
			if f.history.Snapshot().Revision != before || len(view.Entries) != len(entries) {
				t.Errorf("the history was changed, and %d of %d entries are left", len(view.Entries), len(entries))
			}
		})
	}
}

// A threshold that pending tokens alone reach would be reached at every turn, whatever a Compress does.
func TestAThresholdThatNoHistoryCanGetBelow(t *testing.T) {
	f := emergency(1000, joined([]content.Content{text(content.Human, 5)}, exchange("a", 100), exchange("b", 20))...)
	f.strategy.compress = func(prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error) {
		return []rewrite.Piece{rewrite.Keep{From: 0, To: 1}, rewrite.Keep{From: 3, To: 5}}, "", nil
	}
	f.req.Pending = 600 // the threshold is 500
	got := f.prepare(t)
	if got.Compress.Kind != "" || len(f.strategy.compresses) > 0 || len(got.Warnings) != 1 {
		t.Errorf("%+v, warnings %q", got.Compress, got.Warnings)
	}
	f.req.Pending = 620
	if again := f.prepare(t); !slices.Equal(again.Warnings, got.Warnings) {
		t.Errorf("a warning that a host logs once per session differs between turns: %q, %q", got.Warnings, again.Warnings)
	}
	f.req.Pending = 910 // over the hard limit: what is left must go as far as needed
	if got := f.prepare(t); got.Compress.Reason != sdk.ReasonHardLimit {
		t.Errorf("%+v", got.Compress)
	}
}

// What the ladder says that it leaves includes the marks, so one rewrite is enough.
func TestTheLadderCountsItsMarks(t *testing.T) {
	for _, keep := range []bool{true, false} {
		var chat []content.Content
		for range 30 {
			chat = append(chat, text(content.Human, 20), text(content.AI, 60))
		}
		f := emergency(1000, append(chat, text(content.Human, 20))...)
		f.req.Settings.KeepHuman = keep
		got := f.prepare(t)
		last := got.Ladder[len(got.Ladder)-1]
		if got.Tokens > last.TokensAfter || got.Projected > 1000 || f.history.Snapshot().Epoch != 2 { // keeping the newest is one
			t.Errorf("%d tokens are left after %d rewrites: %+v", got.Tokens, f.history.Snapshot().Epoch, got.Ladder)
		}
		marks := 0
		for _, c := range f.history.Snapshot().Contents() {
			if _, mark := check.GapOf(c); mark {
				marks++
			}
		}
		if marks == 0 {
			t.Error("no mark is left")
		}
	}
}
