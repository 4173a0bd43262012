package history

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// gap is a run of entries that a Compress takes out, with the marks of the host between and beside them.
type gap struct {
	said     check.Gap // what was said in it
	from, to int       // positions in the history that the strategy was given
	at       int       // the position in the rewritten history, without marks
	tokens   int       // of the entries
	speaker  content.Speaker
	calls    bool // it has calls or results
}

// markGaps puts an entry where a Compress takes out what was said and leaves nothing in its place: one for each gap,
// which takes in the marks of earlier rewrites at its ends. What counts no more than its mark stays instead.
func markGaps(ctx context.Context, old []*Entry, parts []check.Part, count Counter) ([]check.Part, error) {
	kept, gaps := findGaps(old, parts)
	if len(gaps) == 0 {
		return kept, nil
	}
	gaps = outsidePairs(kept, gaps)
	made := make([]content.Content, len(gaps))
	for i, g := range gaps {
		made[i] = check.MarkGap(g.speaker, g.said)
	}
	counts, err := count(ctx, made)
	if err != nil {
		return nil, fmt.Errorf("count marks: %w", err)
	}
	out := make([]check.Part, 0, len(kept)+len(gaps))
	next := 0
	for i, g := range gaps {
		out = append(out, kept[next:g.at]...)
		if next = g.at; counts[i].Tokens < g.tokens || g.calls {
			mark := made[i]
			if said, more := besideMarks(&out, kept, &next, g.said); more {
				mark = check.MarkGap(g.speaker, said)
			}
			out = append(out, check.Part{Index: -1, Content: mark})
			continue
		}
		for k := g.from; k < g.to; k++ {
			out = append(out, check.Part{Index: k, Content: old[k].Content})
		}
	}
	return append(out, kept[next:]...), nil
}

// besideMarks takes in marks that a new one would stand beside, as where it was moved behind a pair: the last of out,
// and the next of kept.
func besideMarks(out *[]check.Part, kept []check.Part, next *int, said check.Gap) (all check.Gap, more bool) {
	if n := len(*out); n > 0 {
		if of, mark := check.GapOf((*out)[n-1].Content); mark {
			said.Join(of)
			*out, more = (*out)[:n-1], true
		}
	}
	if *next < len(kept) {
		if of, mark := check.GapOf(kept[*next].Content); mark {
			said.Join(of)
			*next, more = *next+1, true
		}
	}
	return said, more
}

// findGaps returns the gaps that need a new mark, and the rewritten history without the marks that these take in. A mark
// that a strategy took out with nothing else that was said is put back.
func findGaps(old []*Entry, parts []check.Part) (kept []check.Part, gaps []gap) {
	kept = make([]check.Part, 0, len(parts))
	stands := stoodFor(old, parts)
	var run gap
	var earlier, added []check.Part // of the run; earlier are marks
	fresh := check.Gap{}            // what this rewrite takes out in the run
	end := func(next content.Speaker) {
		previous := content.Speaker("")
		if len(kept) > 0 {
			previous = kept[len(kept)-1].Content.Speaker
		}
		run.at = len(kept)
		alone := (fresh == check.Gap{}) || slices.ContainsFunc(added, standsFor) // there is nothing to mark but marks
		switch {
		case stands != nil && stands[run.from]:
		case alone && len(earlier) < 2:
			kept = append(kept, earlier...)
		default:
			if alone { // what parted these marks is gone: they become one
				run.said, run.calls = check.Gap{}, true
				for _, mark := range earlier {
					run.said.Add(mark.Content)
				}
			}
			run.speaker = speaker(run.said, previous, next)
			gaps = append(gaps, run)
		}
		kept = append(kept, added...)
		run, earlier, added, fresh = gap{from: run.to, to: run.to}, earlier[:0], added[:0], check.Gap{}
	}
	take := func(i int, mark bool) {
		e := old[i].Content
		if !mark {
			fresh.Add(e)
			run.calls = run.calls || slices.ContainsFunc(e.Blocks, func(b content.Block) bool {
				_, ok := content.CallID(b)
				return ok
			})
		} else {
			earlier = append(earlier, check.Part{Index: i, Content: e})
		}
		run.said.Add(e)
		run.tokens, run.to = run.tokens+old[i].Tokens, i+1
	}
	until := func(to int) {
		for i := run.to; i < to; i++ {
			take(i, isMark(old[i].Content))
		}
	}
	for _, p := range parts {
		if p.Index < 0 {
			added = append(added, p)
			continue
		}
		until(p.Index)
		if isMark(old[p.Index].Content) {
			take(p.Index, true)
			continue
		}
		end(p.Content.Speaker)
		kept = append(kept, markTrimmed(p, old[p.Index].Content))
		run.from, run.to = p.Index+1, p.Index+1
	}
	until(len(old))
	end("")
	return kept, gaps
}

func isMark(c content.Content) bool { _, mark := check.GapOf(c); return mark }

func standsFor(p check.Part) bool { return check.StandsFor(p.Content) }

// speaker returns who a mark is from: the model, unless a person must speak there, because the conversation begins with
// the gap or because only words of people went, or of the model stand on both sides.
func speaker(said check.Gap, previous, next content.Speaker) content.Speaker {
	people := said.Human+said.Summaries > 0
	if people && (said.AI == 0 || previous == "" || previous == content.AI && next == content.AI) {
		return content.Human
	}
	return content.AI
}

// stoodFor returns which entries a summary replaces: those around it that are gone, also beyond pinned ones, which are
// summarised and stay; nil if the answer has no summary.
func stoodFor(old []*Entry, parts []check.Part) []bool {
	frames := func(p check.Part) bool { return p.Index < 0 && check.Frames(p.Content) }
	if !slices.ContainsFunc(parts, frames) {
		return nil
	}
	given, stays := contents(old), make([]bool, len(old))
	for _, p := range parts {
		if p.Index >= 0 {
			stays[p.Index] = true
		}
	}
	for _, i := range turns.Pinned(given, 0, len(given)) {
		stays[i] = false
	}
	stands := make([]bool, len(old)+1)
	at := 0
	for _, p := range parts {
		if p.Index >= 0 {
			at = p.Index + 1
		}
		if !frames(p) {
			continue
		}
		for i := at; i < len(old) && !stays[i] && !stands[i]; i++ {
			stands[i] = true
		}
		for i := at - 1; i >= 0 && !stays[i] && !stands[i]; i-- {
			stands[i] = true
		}
	}
	return stands
}

// outsidePairs moves marks behind the calls and results that they would stand between; marks that meet become one.
func outsidePairs(kept []check.Part, gaps []gap) []gap {
	given := make([]content.Content, len(kept))
	for i, p := range kept {
		given[i] = p.Content
	}
	parted := make([]int, len(kept)+1) // how many pairs a mark before each entry would part
	for _, x := range turns.Exchanges(given, nil) {
		parted[x.First()]++ // counts from the entry behind it on
		parted[x.Last()]--
	}
	open := 0
	for i := range parted {
		here := open
		open += parted[i]
		parted[i] = here
	}
	var out []gap
	for _, g := range gaps {
		moved := g
		for parted[moved.at] > 0 {
			moved.at++
		}
		// What was moved cannot be put back.
		moved.calls = g.calls || moved.at != g.at
		if n := len(out); n > 0 && out[n-1].at == moved.at {
			out[n-1].said.Join(moved.said)
			out[n-1].tokens, out[n-1].calls = out[n-1].tokens+moved.tokens, true
			continue
		}
		out = append(out, moved)
	}
	return out
}

// Gone counts what was said and the plan takes out. What an earlier rewrite took out does not count again.
func (p *Plan) Gone() (gone check.Gap) {
	add := func(e *Entry) {
		if !isMark(e.Content) {
			gone.Add(e.Content)
		}
	}
	if p.changes != nil {
		for _, c := range p.changes {
			if c.Removed || p.base.marks(c) {
				add(p.base.Entries[c.Index])
			}
		}
		return gone
	}
	next := 0
	for _, part := range append(p.parts[:len(p.parts):len(p.parts)], check.Part{Index: len(p.old)}) {
		if part.Index < next {
			continue
		}
		for ; next < part.Index; next++ {
			add(p.old[next])
		}
		next++
	}
	return gone
}

// markTrimmed returns an edited entry of the model with a mark in place of the first of its words, if it has lost them
// all and keeps its calls. Words that are shorter than the mark stay.
func markTrimmed(p check.Part, was content.Content) check.Part {
	if !p.Edited || was.Speaker != content.AI || check.Says(p.Content) || !check.Says(was) {
		return p
	}
	first := slices.IndexFunc(was.Blocks, func(b content.Block) bool {
		t, ok := b.(content.Text)
		return ok && strings.TrimSpace(t.Text) != ""
	})
	if first < 0 {
		return p
	}
	at := 0 // behind what was before the words
	for at < len(p.Of) && p.Of[at] < first {
		at++
	}
	from, block := -1, content.Block(content.Text{Text: marks.Gone(0, 1, 0)})
	if words := was.Blocks[first].(content.Text); len(words.Text) <= len(block.(content.Text).Text) {
		from, block = first, words
	}
	p.Content.Blocks = slices.Insert(slices.Clone(p.Content.Blocks), at, block)
	p.Kept, p.Of = slices.Insert(slices.Clone(p.Kept), at, from), slices.Insert(slices.Clone(p.Of), at, from)
	return p
}
