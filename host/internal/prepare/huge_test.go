package prepare_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// A huge result loses its middle, and only as much of it as is needed. All else stays as it is, whatever the strategy
// would do: here it has nothing to compress, fails, or would keep nothing but the last entries. The turn that follows
// changes nothing.
func TestAHugeResultCostsNothingElse(t *testing.T) {
	small := func(n, tokens int) (all []content.Content) {
		all = []content.Content{text(content.Human, 5)}
		for i := range n {
			all = append(all, exchange(fmt.Sprint("s", i), tokens)...)
		}
		return all
	}
	pinned := exchange("k", 240)
	pinned[1].Metadata = []byte(`{"pinned":true}`)
	strategies := map[string]func(prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error){
		"does nothing": nil, "keeps little": keepEnds,
		"fails": func(prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error) {
			return nil, "", errors.New("broken")
		},
	}
	// The limit is 1000 tokens, the threshold 500, the compress target 300. More than 500 are huge.
	for name, c := range map[string]struct {
		entries []content.Content
		cut     []string // ids of entries
		atMost  int
	}{
		"newest":         {joined(small(4, 20), exchange("h", 3000)), []string{"e11"}, 300},
		"older":          {joined(small(4, 20), exchange("h", 3000), exchange("i", 20)), []string{"e11"}, 300},
		"in a row":       {joined(small(4, 20), exchange("h", 900), exchange("i", 800)), []string{"e11", "e13"}, 300},
		"parallel":       {joined(small(4, 20), parallel(240, 20, 900)), []string{"e11", "e13"}, 300},
		"parallel, many": {joined(small(1, 20), parallel(250, 250, 250, 250)), []string{"e5", "e6", "e7", "e8"}, 300},
		"largest first":  {joined(small(4, 20), exchange("h", 90), exchange("i", 2000)), []string{"e13"}, 499},
		"almost full":    {joined(small(12, 20), exchange("h", 3000)), []string{"e27"}, 499},
		"next to a kept": {joined(small(1, 20), pinned, exchange("h", 3000)), []string{"e7"}, 499},
		"it fits":        {joined(small(4, 20), exchange("h", 600)), []string{"e11"}, 300},
	} {
		for what, compress := range strategies {
			if name == "it fits" && what != "keeps little" {
				continue // nothing would be lost
			}
			t.Run(name+"/"+what, func(t *testing.T) {
				f := emergency(1000, c.entries...)
				f.strategy.compress = compress
				before := f.history.Snapshot().Entries
				got := f.prepare(t)
				if got.Projected > c.atMost || name != "it fits" && len(got.Warnings) != 1 {
					t.Errorf("%d tokens, want at most %d; warnings %q", got.Projected, c.atMost, got.Warnings)
				}
				var cut []string
				after := f.history.Snapshot()
				for i, e := range after.Entries {
					was := before[i]
					if e.ID != was.ID {
						t.Fatalf("entry %d was %s, and is %s", i, was.ID, e.ID)
					}
					if fmt.Sprint(e.Content.Blocks) == fmt.Sprint(was.Content.Blocks) {
						continue
					}
					cut = append(cut, e.ID)
					if left := e.Content.Blocks[0].(content.ToolResponse).ResultText(); e.Tokens < 20 ||
						!strings.HasPrefix(left, "y") || !strings.HasSuffix(left, "y") ||
						!strings.Contains(left, "bytes removed here to stay under the context limit: entry "+e.ID+"]") {
						t.Errorf("%s is %q", e.ID, left)
					}
				}
				if !slices.Equal(cut, c.cut) {
					t.Errorf("cut: %v, want %v", cut, c.cut)
				}
				for _, change := range got.Changes {
					if change.Kind.Sent() && change.Step != string(outcome.RungHuge) {
						t.Errorf("%+v", change)
					}
				}
				if p := turns.Check(after.Contents()); len(p) > 0 {
					t.Error(p)
				}
				more := joined(exchange("z", 1))
				n, _ := sized{}.All(t.Context(), more)
				f.history.Append(more, n)
				if got := f.prepare(t); rewrote(got) {
					t.Errorf("the next turn: %+v", got.Changes)
				}
			})
		}
	}
}

// What is kept, and what people said, is not cut, however huge it is. Nor is anything without leave, or unless the
// strategy wants to compress a history that fits.
func TestWhatIsNotCut(t *testing.T) {
	said := []content.Content{text(content.Human, 5)}
	pinned := exchange("k", 600)
	pinned[1].Metadata = []byte(`{"pinned":true}`)
	three := joined(said, exchange("a", 200), exchange("b", 200), exchange("c", 200))
	pasted := joined(said, exchange("a", 20), []content.Content{text(content.AI, 5), text(content.Human, 600)})
	kept := joined(said, exchange("a", 20), pinned)
	huge := joined(said, exchange("a", 20), exchange("b", 20), exchange("c", 600))
	for name, c := range map[string]struct {
		entries                   []content.Content
		ladder, compress, wantCut bool
	}{
		"huge":                                {entries: huge, ladder: true, compress: true, wantCut: true},
		"kept":                                {entries: kept, ladder: true, compress: true},
		"what a person said":                  {entries: pasted, ladder: true, compress: true},
		"nothing is to be compressed":         {entries: huge, ladder: true},
		"compression.hardLimit is error":      {entries: huge, compress: true},
		"many results, each in its own place": {entries: three, ladder: true, compress: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := emergency(1000, c.entries...)
			f.req.Settings.Ladder = c.ladder
			if c.compress {
				f.strategy.compress = keepEnds
			}
			if got := f.prepare(t); c.wantCut != slices.Contains(rungs(got.Ladder), outcome.RungHuge) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// keepEnds keeps the first entry and the last two.
func keepEnds(c prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error) {
	n := len(c.Entries)
	return []rewrite.Piece{rewrite.Keep{From: 0, To: 1}, rewrite.Keep{From: n - 2, To: n}}, "", nil
}

// What no step can make fit costs nothing either: neither a message that a person pasted, nor what is pinned, nor a
// result where the host may not cut it.
func TestWhatCannotFitCostsNothing(t *testing.T) {
	said := joined([]content.Content{text(content.Human, 5)}, exchange("a", 20), exchange("b", 20))
	pinned := exchange("k", 1200)
	pinned[1].Metadata = []byte(`{"pinned":true}`)
	for name, c := range map[string]struct {
		entries []content.Content
		ladder  bool
	}{
		"pasted":                          {append(said[:5:5], text(content.Human, 1200)), true},
		"pasted, hardLimit is error":      {append(said[:5:5], text(content.Human, 1200)), false},
		"pinned":                          {joined(said, pinned), true},
		"a result and hardLimit is error": {joined(said, exchange("h", 1200)), false},
	} {
		t.Run(name, func(t *testing.T) {
			f := emergency(1000, c.entries...)
			f.req.Settings.Ladder = c.ladder
			f.strategy.compress = keepEnds
			_, got, err := f.Prepare(t.Context(), f.req)
			var overflow *prepare.ContextOverflowError
			if !errors.As(err, &overflow) || rewrote(got) || strings.Contains(err.Error(), "compressed") {
				t.Errorf("%v; %+v", err, got.Changes)
			}
		})
	}
}
