package prepare

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/lazyregexp"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// minResult is how many tokens of a result must be left for the rung to be worthwhile: with less, the model could as
// well have been told nothing.
const minResult = 50

// result is a tool's result that may be cut or removed, and its block's tokens.
type result struct{ entry, block, tokens int }

// newResults are those of the last exchange, which the model has not seen.
func (l *ladder) newResults() []result { return l.resultsIn(l.last, len(l.entries)) }

func (l *ladder) resultsIn(from, to int) (all []result) {
	for i := from; i < to; i++ {
		if l.entries[i].Pinned() {
			continue
		}
		for j, b := range l.entries[i].Blocks {
			if r, ok := b.(content.ToolResponse); ok && l.removable(i, r) {
				all = append(all, result{i, j, int(l.base.Entries[i].Blocks[j])})
			}
		}
	}
	return all
}

func (l *ladder) freeable() (tokens int) {
	for _, r := range l.newResults() {
		tokens += max(0, r.tokens-minResult)
	}
	return tokens
}

// lastResults shortens the largest results of the last exchange, all to the same size, to their beginnings and ends:
// several calls at once can print more than the context window holds. If too little would be left of them, the history
// may count up to the hard limit.
func (l *ladder) lastResults(ctx context.Context, goal int) (int, error) {
	all := l.newResults()
	large, most := shares(all, goal-l.total)
	if most < minResult && goal < l.hard {
		large, most = shares(all, l.hard-l.total)
	}
	return l.cut(ctx, large, most)
}

// cut shortens results to so many tokens each, unless too little would be left of them, and returns how many entries it
// changed.
func (l *ladder) cut(ctx context.Context, large []result, most int) (int, error) {
	if most < minResult {
		return 0, nil
	}
	changed := map[int]bool{}
	for _, r := range large {
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

// shares returns which results must be cut, and to how many tokens each, so that all of them together count so many
// more than they do; more is below 0. Small ones are left whole; the rest of their shares is for the others. It sorts
// all by size.
func shares(all []result, more int) (large []result, most int) {
	slices.SortStableFunc(all, func(a, b result) int { return a.tokens - b.tokens })
	room := more
	for _, r := range all {
		room += r.tokens
	}
	for len(all) > 0 && all[0].tokens <= room/len(all) {
		room -= all[0].tokens
		all = all[1:]
	}
	if len(all) > 0 {
		most = room / len(all)
	}
	return all, most
}

// shorten returns a response whose result counts at most so many tokens: its beginning and its end, with a line between
// them. The bytes per token differ within a text, so it tries with less until it fits.
func (l *ladder) shorten(ctx context.Context, entry, block, most int) (content.ToolResponse, error) {
	old := l.base.Entries[entry]
	from := l.entries[entry]
	response := from.Blocks[block].(content.ToolResponse)
	// What an earlier rung cut is cut again from the whole: that its line is ours is not recorded before it is applied.
	if was, ok := old.Content.Blocks[block].(content.ToolResponse); ok && was.CallID == response.CallID {
		from, response = old.Content, was
	}
	c := newCut(response, old.ID, marks.In(from)[block])
	keep := int(int64(len(c.text)) * int64(most) / int64(max(old.Blocks[block], 1)))
	for {
		keep = keep * 9 / 10
		short := response.WithResultText(c.to(keep))
		counts, err := l.counter.All(ctx, []content.Content{{Speaker: old.Content.Speaker,
			Blocks: []content.Block{short}}})
		if err != nil || keep == 0 || int(counts[0].Blocks[0]) <= most {
			return short, err
		}
	}
}

// cut is a text that loses its middle. One that lost it before loses more of it, and keeps one line for both.
type cut struct {
	text    string // without the line of an earlier cut
	hole    int    // where that line was; -1 if there was none
	gone    int    // the bytes that it replaces
	entryID string
}

const cutLine = "[%d bytes removed here to stay under the context limit: entry %s]"

var cutBytes = lazyregexp.New(`^\[([0-9]{1,12}) bytes removed here to stay under the context limit: entry `)

// newCut reads a result, of which the lines own are marks.
func newCut(r content.ToolResponse, entryID string, own marks.Places) cut {
	text := r.ResultText()
	from, n := 0, 0
	for line := range strings.Lines(text) {
		n++
		if m := cutBytes().FindStringSubmatch(line); m != nil && own.Has(n) {
			gone, _ := strconv.Atoi(m[1]) // the expression bounds it
			return cut{text[:from] + text[from+len(line):], from, gone, entryID}
		}
		from += len(line)
	}
	return cut{text, -1, 0, entryID}
}

// to returns the text with at most so many bytes left: two thirds of them from the beginning, the rest from the end.
func (c cut) to(keep int) string {
	from, to := keep*2/3, len(c.text)-keep/3
	if c.hole >= 0 {
		from, to = min(from, c.hole), max(to, c.hole)
	}
	for from > 0 && from < len(c.text) && !utf8.RuneStart(c.text[from]) {
		from--
	}
	for to < len(c.text) && !utf8.RuneStart(c.text[to]) {
		to++
	}
	// A line that is not long is kept or removed whole, and a small piece of a long one is removed.
	if start, end := c.line(from); end-start <= check.LongLine || from-start < check.MinPiece {
		from = start
	}
	if start, end := c.line(to); start < to && (end-start <= check.LongLine || end-to <= check.MinPiece) {
		to = end
	}
	var b strings.Builder
	if b.WriteString(c.text[:from]); from > 0 && c.text[from-1] != '\n' {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, cutLine+"\n", to-from+c.gone, c.entryID)
	b.WriteString(c.text[to:])
	return b.String()
}

func (c cut) line(at int) (start, end int) {
	start, end = strings.LastIndexByte(c.text[:at], '\n')+1, len(c.text)
	if n := strings.IndexByte(c.text[at:], '\n'); n >= 0 {
		end = at + n + 1
	}
	return start, end
}
