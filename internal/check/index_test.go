package check

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

// drawEdits draws edits that stay in bounds: removals, and replacements that keep some blocks and add calls and
// responses with ids of the history.
func drawEdits(t *rapid.T, history []content.Content) (edits []rewrite.Edit) {
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(history)-1), 0, 5, rapid.ID[int]).Draw(t, "edited") {
		e := rewrite.Edit{Index: i, Remove: rapid.Bool().Draw(t, "remove")}
		for k := range history[i].Blocks {
			if !e.Remove && rapid.Bool().Draw(t, "keep") {
				e.Blocks = append(e.Blocks, rewrite.BlockPiece{Keep: k})
			}
		}
		if !e.Remove && rapid.Bool().Draw(t, "add") {
			from := history[rapid.IntRange(0, len(history)-1).Draw(t, "from")]
			for _, b := range from.Blocks {
				e.Blocks = append(e.Blocks, rewrite.BlockPiece{Block: b})
			}
		}
		edits = append(edits, e)
	}
	return edits
}

// An index that has followed a history, with the edits that were applied to it, judges as one that sees it for the
// first time, and the pairs of the few entries that it looks at tell the same as those of the whole history.
func TestAnIndexJudgesAsAWalkOverEverything(t *testing.T) {
	histories := gen.History(gen.Options{MaxEntries: 30, Malformed: true})
	pairsBroken, applied := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		x := &Index{}
		var history []content.Content
		for _, c := range histories.Draw(t, "history") {
			history = append(history, c)
			if rapid.IntRange(0, 2).Draw(t, "judge") != 0 {
				continue
			}
			now := history
			at := func(i int) content.Content { return now[i] }
			edits := drawEdits(t, now)
			got, gotErr := x.Optimize(len(now), at, edits)
			var fresh Index
			want, wantErr := fresh.Optimize(len(now), at, edits)
			if fmt.Sprint(got, gotErr) != fmt.Sprint(want, wantErr) {
				t.Fatalf("got %v, %v\nwant %v, %v", got, gotErr, want, wantErr)
			}
			var few, all problems
			x.mu.Lock()
			x.pairs(&few, len(now), at, got)
			x.mu.Unlock()
			all.pairs(now, Expand(now, got))
			if (len(few) == 0) != (len(all) == 0) {
				t.Fatalf("the index finds %v, a walk over everything %v", few.err(), all.err())
			}
			if len(few) > 0 {
				pairsBroken++
			}
			if gotErr != nil || len(got) == 0 {
				continue
			}
			history = nil
			for _, part := range Expand(now, got) {
				history = append(history, part.Content)
			}
			before := x
			x = x.Applied(at, got)
			applied++
			var anew Index
			anew.extend(len(history), func(i int) content.Content { return history[i] })
			if got, want := places(x), places(&anew); got != want {
				t.Fatalf("after the edits the index has %v, want %v", got, want)
			}
			if again, err := before.Optimize(len(now), at, edits); fmt.Sprint(again, err) != fmt.Sprint(got, gotErr) {
				t.Fatalf("the index that was given away: got %v, %v, want %v", again, err, got)
			}
		}
	})
	if !testing.Short() && (pairsBroken == 0 || applied == 0) { // few draws may have none
		t.Errorf("%d answers broke a pair, %d were applied: the test tells nothing", pairsBroken, applied)
	}
}

// places is what an index knows, by positions.
func places(x *Index) string {
	ids := map[string][]int{}
	for id, numbers := range x.ids {
		for _, n := range numbers {
			ids[id] = append(ids[id], x.position(n))
		}
	}
	var humans []int
	for _, n := range x.humans {
		humans = append(humans, x.position(n))
	}
	return fmt.Sprint(ids, humans, x.position(x.seen))
}

// Once an index has seen a history, an answer is judged by looking at the entries that its edits concern.
func TestAnIndexLooksAtWhatTheEditsConcern(t *testing.T) {
	looks := map[int]int{}
	for _, n := range []int{100, 5000} {
		history := gen.Session(n, 1)
		looked := 0
		at := func(i int) content.Content {
			looked++
			return history[i]
		}
		var x Index
		exchange := 50 // a call, with its response behind it
		for _, call := history[exchange].Blocks[len(history[exchange].Blocks)-1].(content.ToolCall); !call; {
			exchange++
			_, call = history[exchange].Blocks[len(history[exchange].Blocks)-1].(content.ToolCall)
		}
		edits := []rewrite.Edit{{Index: exchange, Remove: true}, {Index: exchange + 1, Remove: true}}
		for range 2 {
			looked = 0
			if _, err := x.Optimize(n, at, edits); err != nil {
				t.Fatal(err)
			}
		}
		looks[n] = looked
	}
	if looks[5000] > looks[100]+2 || looks[5000] > 20 { // tools may stand at the end
		t.Errorf("entries that were looked at, by the length of the history: %v", looks)
	}
}
