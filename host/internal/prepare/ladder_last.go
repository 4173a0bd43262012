package prepare

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk/content"
)

// leastResult is how many tokens of a result of the last exchange must be left for the rung to be worth taking: with
// less, the model could as well have been told nothing.
const leastResult = 50

// lastResults shortens the largest results of the last exchange, all to the same size, to their beginnings and ends.
// Several calls at once can print more than the context window holds, and nothing else is left to remove then.
func (l *ladder) lastResults(ctx context.Context, goal int) (int, error) {
	type result struct{ entry, block, tokens int }
	var all []result
	room := goal - l.total // what all of them may count together
	for i := l.last; i < len(l.entries); i++ {
		for j, b := range l.entries[i].Blocks {
			if r, ok := b.(content.ToolResponse); ok && !l.entries[i].Pinned() && l.removable(i, r) {
				tokens := int(l.base.Entries[i].Blocks[j])
				all = append(all, result{i, j, tokens})
				room += tokens
			}
		}
	}
	// Small ones stay whole; what they leave of their shares is for the others.
	slices.SortStableFunc(all, func(a, b result) int { return a.tokens - b.tokens })
	for len(all) > 0 && all[0].tokens <= room/len(all) {
		room -= all[0].tokens
		all = all[1:]
	}
	if len(all) == 0 || room/len(all) < leastResult {
		return 0, nil
	}
	most := room / len(all)
	changed := map[int]bool{}
	for _, r := range all {
		short, err := l.shorten(ctx, r.entry, r.block, most)
		if err != nil {
			return 0, err
		}
		if ok, err := l.replace(ctx, r.entry, r.block, short); err != nil {
			return 0, err
		} else if ok {
			changed[r.entry] = true
		}
	}
	return len(changed), nil
}

// shorten returns a response whose result counts at most so many tokens: its beginning and its end, with a line between
// them. How many bytes a token has differs within a text, so that it is tried with less until it fits.
func (l *ladder) shorten(ctx context.Context, entry, block, most int) (content.ToolResponse, error) {
	old := l.base.Entries[entry]
	response := l.entries[entry].Blocks[block].(content.ToolResponse)
	text := response.ResultText()
	keep := int(int64(len(text)) * int64(most) / int64(max(old.Blocks[block], 1)))
	for {
		keep = keep * 9 / 10
		from, to := keep*2/3, len(text)-keep/3
		for from > 0 && !utf8.RuneStart(text[from]) {
			from--
		}
		for to < len(text) && !utf8.RuneStart(text[to]) {
			to++
		}
		short := response.WithResultText(fmt.Sprintf("%s\n[%d bytes removed here to stay under the context limit: "+
			"entry %s]\n%s", text[:from], to-from, old.ID, text[to:]))
		counts, err := l.counter.All(ctx, []content.Content{{Speaker: old.Content.Speaker,
			Blocks: []content.Block{short}}})
		if err != nil || keep == 0 || int(counts[0].Blocks[0]) <= most {
			return short, err
		}
	}
}
