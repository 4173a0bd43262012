package journal

import (
	"context"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// taking takes the passages of a ranking that are shown.
type taking struct {
	*finder
	indexes []search.Index
	shelves []*shelf
	ranking *search.Ranking
	taken   []*taken
	left    int // tokens
}

// taken is a passage that is shown.
type taken struct {
	search.Hit
	at    search.Spot
	found search.Passage
	lines map[string]bool // of what is shown
	files []string        // nil: not looked at yet
	also  []outcome.Again
}

// readAhead is how many passages are read from the store at once, at first and then.
const readAhead, readMore = 8, 64

// bytesOfToken is about how many bytes a token has.
const bytesOfToken = 3

// take reads the passages in their order, until there are enough of those that fit.
func (t *taking) take(ctx context.Context) ([]Found, error) {
	most := 0
	most, t.left = t.words.Limits()
	all := t.left
	size := readAhead
	for len(t.taken) < most {
		next := t.ranking.Next(size)
		if len(next) == 0 {
			break
		}
		size = readMore
		if err := t.fetch(ctx, next); err != nil {
			return nil, err
		}
		for i, h := range next {
			one, ok := t.read(h)
			if !ok || t.again(one) {
				continue
			}
			back := t.newest(one, next[i+1:])
			// The first is most often what is asked for.
			share := t.left / (most - len(t.taken))
			if len(t.taken) == 0 && most > 1 {
				share = all * 3 / 5
			}
			if !t.fit(one, share) {
				continue
			}
			t.taken = append(t.taken, one)
			t.left -= one.found.Tokens
			t.ranking.Found(h, back)
			size = readAhead
			break
		}
	}
	if len(t.taken) > 0 { // the first may have what the others left
		first := t.taken[0]
		t.left += first.found.Tokens
		t.fit(first, t.left)
		t.left -= first.found.Tokens
	}
	return t.shown(ctx)
}

func (t *taking) spot(h search.Hit) search.Spot { return t.indexes[h.Session].Spots[h.Number] }

func (t *taking) fetch(ctx context.Context, hits []search.Hit) error {
	for i, s := range t.shelves {
		var spots []search.Spot
		for _, h := range hits {
			if h.Session == i {
				spots = append(spots, t.spot(h))
			}
		}
		if err := s.fetch(ctx, spots); err != nil {
			return err
		}
	}
	return nil
}

// read returns a passage. ok is false if the model still has it, or it is not what is asked for.
func (t *taking) read(h search.Hit) (_ *taken, ok bool) {
	one, s := &taken{Hit: h, at: t.spot(h)}, t.shelves[h.Session]
	p, ok := s.passage(one.at)
	if !ok || !t.words.Matches(p.Text) {
		return nil, false
	}
	p.Score, p.Entry, p.Block, p.Turn = h.Score, s.records[one.at.Record][one.at.Index].ID, one.at.Block, one.at.Turn
	one.found = p
	return one, true
}

// fit makes of a passage what is shown of it in so many tokens. It reports whether there is room for that.
func (t *taking) fit(one *taken, share int) bool {
	block, p := t.shelves[one.Session].block(one.at), one.found
	for range 4 {
		thing := block.Thing(one.at.Part, share*bytesOfToken, t.ranking.Weigh)
		if !t.words.Matches(thing.Text) {
			thing = p
		}
		tokens := t.counter.Text(thing.Text)
		if tokens <= t.left {
			one.found.Text, one.found.Line, one.found.Lines, one.found.Tokens = thing.Text, thing.Line, thing.Lines, tokens
			one.lines = nil
			return true
		}
		share = min(share, t.left) * t.left / tokens
	}
	return false
}

// again reports whether a passage is shown already, or much the same as one that is: then it is noted there.
func (t *taking) again(one *taken) bool {
	for _, shown := range t.taken {
		switch {
		case shown.covers(one):
			return true
		case t.same(shown, one):
			shown.note(one)
			return true
		}
	}
	return false
}

// covers reports whether what is shown is in the same block and has half of the lines of another passage.
func (o *taken) covers(other *taken) bool {
	common := min(o.found.Line+o.found.Lines, other.found.Line+other.found.Lines) - max(o.found.Line, other.found.Line)
	return o.Session == other.Session && o.at.Record == other.at.Record && o.at.Index == other.at.Index &&
		o.at.Block == other.at.Block && 2*common >= other.found.Lines
}

// same reports whether two passages have the same text, or are much the same part of one file, and the other one has no
// word more. A search of many sessions tells these apart.
func (t *taking) same(shown, other *taken) bool {
	if shown.Session != other.Session || !t.ranking.Covers(shown.found.Text, shown.Hit, other.Hit) {
		return false
	}
	if shown.found.Text == other.found.Text {
		return true
	}
	same, all := other.in(shown)
	return all > 0 && 3*same >= 2*all && slices.ContainsFunc(t.files(other), func(file string) bool {
		return slices.Contains(t.files(shown), file)
	})
}

func (t *taking) files(one *taken) []string {
	if one.files == nil {
		one.files = append([]string{}, t.shelves[one.Session].files(one.at)...)
	}
	return one.files
}

// in returns how many lines of a passage another one has, and how many there are.
func (o *taken) in(other *taken) (same, all int) {
	o.split()
	other.split()
	for line := range o.lines {
		if other.lines[line] {
			same++
		}
	}
	return same, len(o.lines)
}

// split notes the lines that are shown, without what numbers them.
func (o *taken) split() {
	if o.lines != nil {
		return
	}
	o.lines = map[string]bool{}
	for line := range strings.Lines(o.found.Text) {
		if _, rest, ok := marks.Number(line); ok {
			line = rest
		}
		if line = strings.TrimSpace(line); line != "" {
			o.lines[line] = true
		}
	}
}

// note notes an older place of much the same.
func (o *taken) note(older *taken) {
	same, all := older.in(o)
	o.also = append(o.also, outcome.Again{Place: older.found.Place, Turn: older.found.Turn, Changed: same < all})
}

// newest looks among the next hits for the newest that is much the same as one, which is shown in its place, and returns
// the others.
func (t *taking) newest(one *taken, next []search.Hit) (back []search.Hit) {
	for _, h := range next {
		other, ok := t.read(h)
		if !ok || !t.same(one, other) {
			back = append(back, h)
			continue
		}
		if other.at.Record > one.at.Record && t.same(other, one) {
			one.also, other.also = nil, one.also
			*one, *other = *other, *one
		}
		one.note(other)
	}
	return back
}

// shown returns what was taken, with where it stood.
func (t *taking) shown(ctx context.Context) (all []Found, err error) {
	for _, one := range t.taken {
		s := t.shelves[one.Session]
		s.describe(&one.found, one.at)
		slices.SortFunc(one.also, func(a, b outcome.Again) int { return b.Turn - a.Turn })
		one.found.Also = one.also
		if one.found.Kind == content.KindToolCall && !t.shows(one) {
			if one.found.Result, err = s.result(ctx, one.at, one.found.Call); err != nil {
				return nil, err
			}
			if one.found.Result != nil {
				n := t.counter.Text(one.found.Result.Text)
				if n > t.left {
					one.found.Result.Text = ""
				} else {
					t.left -= n
					one.found.Tokens += n
				}
			}
		}
		all = append(all, Found{s.key, one.found})
	}
	return all, nil
}

// shows reports whether the result of a call is shown.
func (t *taking) shows(call *taken) bool {
	return slices.ContainsFunc(t.taken, func(o *taken) bool {
		return o.Session == call.Session && o.found.Kind == content.KindToolResponse && o.found.Call == call.found.Call &&
			o.at.Exchange == call.at.Exchange
	})
}
