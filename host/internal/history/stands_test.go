package history_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
)

// A line for calls has the ids of the results that it stands for, those of an earlier line too, and no more than a few.
func TestALineForCallsHasTheIDsOfItsResults(t *testing.T) {
	h := of(t, human("go"))
	for i := range 12 {
		id := fmt.Sprint(i)
		long := answers(id)
		r := long.Blocks[0].(content.ToolResponse)
		if long.Blocks[0] = r.WithResultText(strings.Repeat(id+" words ", 100)); i == 11 {
			long = answers(id) // too short to be asked for
		}
		add(h, calls(id), long)
	}
	add(h, human("and"))
	line := content.Content{Speaker: content.AI, Metadata: []byte(`{"foldedCalls":2}`),
		Blocks: []content.Block{content.Text{Text: "[Earlier tool calls, results removed: f]"}}}
	seen := map[history.Sum]int{}
	marker := &history.Marker{Name: "m", Mark: func(was ...history.Sum) string {
		for _, sum := range was {
			seen[sum]++
		}
		return fmt.Sprintf(" <%d>", len(was))
	}}
	for _, want := range []int{5, 8} { // the last five of the history; then all but the first
		s := h.Snapshot()
		from := 1 + 2*(12-6)
		if want == 8 {
			from = 3
		}
		plan := must(s.PlanCompress(t.Context(), s.Entries, "test", []rewrite.Piece{rewrite.Keep{From: 0, To: from},
			rewrite.Added{Content: line}, rewrite.Added{Content: line}, rewrite.Keep{From: len(s.Entries) - 1, To: len(s.Entries)}}, counts))
		if _, err := h.Apply(plan); err != nil {
			t.Fatal(err)
		}
		v := h.MarkedAt(nil, marker, count)
		text := v.Contents()[from].Blocks[0].(content.Text).Text
		if !strings.HasSuffix(text, fmt.Sprintf(" <%d>", want)) {
			t.Errorf("%q, want %d", text, want)
		}
		if plain := v.Contents()[from+1].Blocks[0].(content.Text).Text; strings.HasSuffix(plain, ">") {
			t.Errorf("the second line of a gap says %q", plain)
		}
		sum := 0
		for _, c := range v.Contents() {
			sum += count(c)
		}
		if v.Tokens != sum {
			t.Errorf("%d tokens, counted again %d", v.Tokens, sum)
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d results have an id", len(seen))
	}
}
