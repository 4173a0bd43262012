package prepare_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

func TestTheLadderTakesWhatCostsLeastFirst(t *testing.T) {
	human := func(tokens int) []content.Content { return []content.Content{text(content.Human, tokens)} }
	for name, c := range map[string]struct {
		limit   int
		entries []content.Content
		want    []outcome.Rung
		changed map[string]outcome.Rung // by entry id
	}{
		"large results are enough": { // the compress target is 135 tokens: e3 alone would leave 208
			450, joined(human(20), exchange("a", 300), exchange("b", 100), exchange("c", 50)),
			[]outcome.Rung{outcome.RungResults}, map[string]outcome.Rung{"e3": outcome.RungResults,
				"e5": outcome.RungResults},
		},
		"then the oldest exchanges": { // the target is 70
			235, joined(human(20), exchange("a", 70), exchange("b", 5), exchange("c", 10), exchange("d", 110)),
			[]outcome.Rung{outcome.RungResults, outcome.RungExchanges}, map[string]outcome.Rung{
				"e2": outcome.RungExchanges, "e3": outcome.RungExchanges, "e4": outcome.RungExchanges,
				"e5": outcome.RungExchanges, "e6": outcome.RungExchanges, "e7": outcome.RungExchanges},
		},
		"the last exchange stays, and what people said goes last": {
			100, joined(human(50), human(20), exchange("a", 200), human(20), exchange("c", 50)),
			[]outcome.Rung{outcome.RungResults, outcome.RungExchanges, outcome.RungHuman},
			map[string]outcome.Rung{"e1": outcome.RungHuman, "e2": outcome.RungHuman, "e3": outcome.RungExchanges,
				"e4": outcome.RungExchanges, "e8": outcome.RungHuman}, // the mark in their place
		},
		"four calls at once that print more than the window, of which small results stay whole": {
			400, joined(human(20), exchange("a", 70), parallel(300, 10, 500, 90)),
			[]outcome.Rung{outcome.RungLast},
			map[string]outcome.Rung{"e5": outcome.RungLast, "e7": outcome.RungLast, "e8": outcome.RungLast},
		},
		"a huge result is cut before anything else goes": {
			300, joined(human(2), exchange("a", 5), human(1), exchange("b", 490)),
			[]outcome.Rung{outcome.RungHuge}, map[string]outcome.Rung{"e6": outcome.RungHuge},
		},
		"what was seen goes before too little is left of a new result": {
			300, joined(human(20), exchange("a", 240), human(1), exchange("b", 290)),
			[]outcome.Rung{outcome.RungResults, outcome.RungLast},
			map[string]outcome.Rung{"e3": outcome.RungResults, "e6": outcome.RungLast},
		},
		"words of people go only as far as cutting new results is not enough": {
			400, joined(human(120), human(100), human(50), human(150), exchange("b", 300)),
			[]outcome.Rung{outcome.RungLast, outcome.RungHuman},
			map[string]outcome.Rung{"e1": outcome.RungHuman, "e2": outcome.RungHuman, "e6": outcome.RungLast},
		},
		"what people said goes alone if that is enough": {
			1000, joined(human(1500), human(10), exchange("a", 5), exchange("b", 10)),
			[]outcome.Rung{outcome.RungHuman}, map[string]outcome.Rung{"e1": outcome.RungHuman},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := emergency(c.limit, c.entries...)
			got := f.prepare(t)
			if diff := cmp.Diff(c.want, rungs(got.Ladder)); diff != "" {
				t.Errorf("rungs:\n%s", diff)
			}
			changed := map[string]outcome.Rung{}
			for _, ch := range got.Changes {
				if ch.Kind.Sent() {
					changed[ch.EntryID] = outcome.Rung(ch.Step)
				}
			}
			if diff := cmp.Diff(c.changed, changed); diff != "" {
				t.Errorf("changes:\n%s", diff)
			}
			last := slices.Contains(c.want, outcome.RungLast)
			if last != strings.Contains(strings.Join(got.Warnings, ""), "which the model has not seen yet") {
				t.Errorf("warnings: %q", got.Warnings)
			}
			if got.Projected > c.limit {
				t.Errorf("%d tokens are left, the limit is %d", got.Projected, c.limit)
			}
			if p := turns.Check(f.history.Snapshot().Contents()); len(p) > 0 {
				t.Errorf("the history is not valid any more: %v", p)
			}
		})
	}
}

// parallel is one entry of the AI with calls, and the entries with their results of so many tokens.
func parallel(tokens ...int) []content.Content {
	all := []content.Content{{Speaker: content.AI}}
	for i, n := range tokens {
		x := exchange(fmt.Sprint("p", i), n)
		all[0].Blocks = append(all[0].Blocks, x[0].Blocks...)
		all = append(all, x[1])
	}
	return all
}

// At the hard limit a Compress that gains next to nothing is made only where the ladder cannot do without it.
func TestACompressThatGainsNextToNothingIsNoStepOfTheLadder(t *testing.T) {
	human := func(tokens int) content.Content { return text(content.Human, tokens) }
	for name, c := range map[string]struct {
		entries []content.Content // the Compress drops the first one
		want    []outcome.Rung
	}{
		"a new result": {append([]content.Content{text(content.AI, 5), human(5)}, exchange("b", 900)...), []outcome.Rung{outcome.RungHuge}},
		"only both together are enough": {
			[]content.Content{human(20), text(content.AI, 5), human(1), text(content.AI, 1), human(490)},
			[]outcome.Rung{outcome.RungCompress, outcome.RungExchanges},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := emergency(500, c.entries...)
			f.req.Settings.KeepHuman = true
			f.strategy.compress = func(call prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error) {
				return []rewrite.Piece{rewrite.Keep{From: 1, To: len(call.Entries)}}, "", nil
			}
			if diff := cmp.Diff(c.want, rungs(f.prepare(t).Ladder)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A result that is cut for the second time says how many of its bytes are gone, not how many of what was left.
func TestTheLineOfACutCountsWhatIsGone(t *testing.T) {
	lines := exchange("b", 1)
	original := strings.Repeat("twenty bytes a line\n", 400)
	lines[1].Blocks[0] = content.ToolResponse{CallID: "b", ToolName: "run", Result: content.String(original)}
	f := emergency(500, append([]content.Content{text(content.Human, 5)}, lines...)...)
	for range 2 {
		f.prepare(t)
		left := f.history.Snapshot().Contents()[2].Blocks[0].(content.ToolResponse).ResultText()
		found := regexp.MustCompile(`(?m)^\[(\d+) bytes removed here [^\n]*\]\n`).FindAllStringSubmatch(left, -1)
		if len(found) != 1 {
			t.Fatalf("%d lines in %q", len(found), left)
		}
		rest := strings.Replace(left, found[0][0], "", 1)
		gone, _ := strconv.Atoi(found[0][1])
		if gone != len(original)-len(rest) || strings.ReplaceAll(rest, "twenty bytes a line\n", "") != "" {
			t.Errorf("%d bytes are gone, and it says %d: %q", len(original)-len(rest), gone, left)
		}
		more := []content.Content{text(content.Human, 100)}
		n, _ := sized{}.All(t.Context(), more)
		f.history.Append(more, n)
	}
}
