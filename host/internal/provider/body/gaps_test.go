package body

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

var gapMark = regexp.MustCompile(`\[(?:(\d+) user messages?)?(?: and )?(?:(\d+) assistant repl(?:y|ies))? w(?:as|ere) removed here\]`)

// Whatever a view lacks, the marks in the request count what the request lacks: what an API demands is sent, and no mark
// says that it is gone.
func TestMarksCountWhatTheRequestLacks(t *testing.T) {
	for api, raw := range bodies {
		r := index(t, api, raw)
		entries, view := numbered(r)
		contents := make([]content.Content, len(view))
		for i, s := range view {
			contents[i] = s.Content
		}
		all := turns.Exchanges(contents, nil) // a view has them whole, and marks stand between them
		for mask := range 1 << len(all) {
			keep, within := make([]bool, len(view)), make([]bool, len(view)+1)
			for i, x := range all {
				for _, at := range x.Entries {
					keep[at] = mask>>i&1 == 1
				}
				for at := x.First() + 1; keep[x.First()] && at <= x.Last(); at++ {
					within[at] = true
				}
			}
			some, lacks, ok := marked(view, keep, within)
			if !ok {
				continue
			}
			plan, err := r.NewPlan(entries, some)
			if err != nil {
				t.Fatal(err)
			}
			var gone, said check.Gap
			for i := range entries {
				if plan.fates[i].gone {
					gone.Add(entries[i].Content)
				}
			}
			for _, m := range gapMark.FindAllStringSubmatch(edit(t, r, entries, some), -1) {
				human, _ := strconv.Atoi(m[1])
				ai, _ := strconv.Atoi(m[2])
				said.Join(check.Gap{Human: human, AI: ai})
			}
			if gone != said {
				t.Fatalf("%s: the view lacks %+v, the request %+v, and its marks say %+v: %s", api, lacks, gone, said,
					edit(t, r, entries, some))
			}
		}
	}
}

// marked returns a part of a view with the marks that the host puts there.
func marked(view []Shown, keep, within []bool) (some []Shown, lacks check.Gap, ok bool) {
	ok = true
	var gap check.Gap
	put := func(at int) {
		if gap != (check.Gap{}) {
			ok = ok && !within[at]
			by := content.AI
			if len(some) == 0 && gap.Human > 0 || gap.AI == 0 {
				by = content.Human
			}
			some = append(some, Shown{fmt.Sprint("m", len(some)), check.MarkGap(by, gap)})
		}
		lacks.Join(gap)
		gap = check.Gap{}
	}
	for i, s := range view {
		if !keep[i] {
			gap.Add(s.Content)
			continue
		}
		put(i)
		some = append(some, s)
	}
	put(len(view))
	return some, lacks, ok
}
