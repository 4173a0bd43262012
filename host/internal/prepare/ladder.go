package prepare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// ladderRoom is the share of the hard limit that a rung clears down to, so that the next turn is not over it again at once.
const ladderRoom = 0.9

// ladder is the plan of an emergency: what is left of the history, and how much of it has to go.
type ladder struct {
	base    history.Snapshot
	entries []content.Content // as they are in the history
	blocks  map[int][]rewrite.BlockPiece
	gone    []bool
	tokens  []int // of each entry as it is sent, 0 for those that are gone or withheld
	last    int   // the last exchange begins here: it and what follows stays
	total   int
	rung    map[string]outcome.Rung // by the id of an entry: the last rung that touched it
	taking  outcome.Rung
	steps   []outcome.LadderStep
	// withheld are the responses that no request holds: taking them away makes no room.
	withheld map[withheld]bool
}

// withheld is a response that answers nothing.
type withheld struct{ entryID, callID string }

// tokensOf returns what each entry of the history counts in a view, by id. What is made for the view counts for the entry of
// the AI that it answers.
func tokensOf(view history.View) map[string]int {
	sent := make(map[string]int, len(view.Entries))
	caller := ""
	for _, e := range view.Entries {
		if e.ID == "" {
			sent[caller] += e.Tokens
			continue
		}
		sent[e.ID] = e.Tokens
		if e.Content.Speaker == content.AI {
			caller = e.ID
		}
	}
	return sent
}

// descend makes room under the hard limit without a strategy. It changes all that is needed or, if that is not enough,
// nothing; applied is false then.
func (t *turn) descend(ctx context.Context, view history.View, missing int) (applied bool, err error) {
	base := t.history.Snapshot()
	l, err := t.newLadder(ctx, base, view)
	if err != nil {
		return false, err
	}
	hard := l.total - t.counted(missing)
	room := hard - t.counted(int((1-ladderRoom)*float64(t.outcome.Limits.Hard)))
	for _, rung := range []struct {
		name outcome.Rung
		take func(goal int) (entries int, err error)
		goal int
	}{
		{outcome.RungResults, func(goal int) (int, error) { return l.results(ctx, t.counter, goal) }, room},
		{outcome.RungExchanges, l.exchanges, room},
		{outcome.RungHuman, func(goal int) (int, error) { return l.human(ctx, t.counter, goal) }, hard},
	} {
		if l.total <= hard {
			break
		}
		before := l.total
		l.taking = rung.name
		n, err := rung.take(rung.goal)
		if err != nil {
			return false, err
		}
		if n > 0 {
			l.steps = append(l.steps, outcome.LadderStep{Rung: rung.name, Entries: n, TokensBefore: before, TokensAfter: l.total})
		}
	}
	if l.total > hard {
		return false, nil
	}
	plan, err := base.PlanCompress(base.Entries, l.pieces(), func(c []content.Content) ([]history.Count, error) { return t.counter.All(ctx, c) })
	if err != nil {
		return false, fmt.Errorf("make room under the context limit: %w", err)
	}
	if err := t.apply(plan, ""); err != nil {
		return false, fmt.Errorf("make room under the context limit: %w", err)
	}
	for i, c := range t.outcome.Changes {
		if c.Step == "" {
			t.outcome.Changes[i].Step = string(l.rung[c.EntryID])
		}
	}
	t.outcome.Ladder = append(t.outcome.Ladder, l.steps...)
	return true, nil
}

func (t *turn) newLadder(ctx context.Context, base history.Snapshot, view history.View) (*ladder, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := len(base.Entries)
	l := &ladder{
		base: base, entries: base.Contents(), blocks: map[int][]rewrite.BlockPiece{}, rung: map[string]outcome.Rung{}, withheld: map[withheld]bool{},
		gone: make([]bool, n), tokens: make([]int, n), last: n,
	}
	sent := tokensOf(view)
	for i, e := range base.Entries {
		l.tokens[i] = sent[e.ID]
		l.total += l.tokens[i]
	}
	for _, p := range view.Problems {
		if p.Kind == outcome.OrphanedResponse {
			l.withheld[withheld{p.EntryID, p.CallID}] = true
		}
	}
	for i := n - 1; i >= 0; i-- { // the entries of the AI that the last responses answer
		if l.entries[i].Speaker == content.AI {
			l.last = i
			break
		}
	}
	for l.last > 0 && l.entries[l.last-1].Speaker == content.AI {
		l.last--
	}
	return l, nil
}

// removedResult begins the line that stands for a result. Such a line is not replaced again.
const removedResult = "[result removed"

// results replaces tool results by a line, the largest first.
func (l *ladder) results(ctx context.Context, counter Counter, goal int) (int, error) {
	type result struct{ entry, block, tokens int }
	var all []result
	for i := range l.last {
		for j, b := range l.entries[i].Blocks {
			r, ok := b.(content.ToolResponse)
			if ok && len(r.Result) > 0 && !l.withheld[withheld{l.base.Entries[i].ID, r.CallID}] && !strings.HasPrefix(string(r.Result), `"`+removedResult) {
				all = append(all, result{i, j, int(l.base.Entries[i].Blocks[j])})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b result) int { return cmp.Compare(b.tokens, a.tokens) })
	changed := map[int]bool{}
	for _, r := range all {
		if l.total <= goal {
			break
		}
		response := l.entries[r.entry].Blocks[r.block].(content.ToolResponse)
		short := response.WithResultText(fmt.Sprintf(removedResult+" to stay under the context limit: %d tokens, entry %s]", r.tokens, l.base.Entries[r.entry].ID))
		ok, err := l.replace(ctx, counter, r.entry, r.block, short)
		if err != nil {
			return 0, err
		}
		if ok { // else most of its tokens are its error's, or it is as short as the line
			changed[r.entry] = true
		}
	}
	return len(changed), nil
}

// exchanges removes the oldest exchanges before the last one, a call always with its responses. A call there that has none
// was interrupted: nothing waits for it any more.
func (l *ladder) exchanges(goal int) (int, error) {
	n := 0
	for _, x := range turns.Exchanges(l.entries, nil) {
		if l.total <= goal {
			break
		}
		first := l.entries[x.First()].Speaker
		if x.Last() >= l.last || first != content.AI && first != content.Tool || l.opaque(x.Entries) {
			continue
		}
		for _, i := range x.Entries {
			l.drop(i)
			n++
		}
	}
	return n, nil
}

// human shortens what people said, then removes it, the oldest first, up to the last message.
func (l *ladder) human(ctx context.Context, counter Counter, goal int) (int, error) {
	var old []int
	for i, c := range l.entries[:l.last] {
		if c.Speaker == content.Human && !l.opaque([]int{i}) {
			old = append(old, i)
		}
	}
	if !slices.ContainsFunc(l.entries[l.last:], func(c content.Content) bool { return c.Speaker == content.Human }) && len(old) > 0 {
		old = old[:len(old)-1]
	}
	changed := map[int]bool{}
	for _, i := range old {
		for j, b := range l.entries[i].Blocks {
			if l.total <= goal {
				return len(changed), nil
			}
			text, ok := b.(content.Text)
			if !ok || len(text.Text) <= headBytes {
				continue
			}
			text.Text = fmt.Sprintf("%s… [the rest was removed to stay under the context limit: entry %s]", head(text.Text), l.base.Entries[i].ID)
			if ok, err := l.replace(ctx, counter, i, j, text); err != nil {
				return 0, err
			} else if ok {
				changed[i] = true
			}
		}
	}
	for _, i := range old {
		if l.total <= goal {
			break
		}
		l.drop(i)
		changed[i] = true
	}
	return len(changed), nil
}

// headBytes is how much is left of a long message.
const headBytes = 400

func head(s string) string {
	n := headBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// replace puts a shorter block in the place of one; ok is false if it does not count less.
func (l *ladder) replace(ctx context.Context, counter Counter, entry, block int, b content.Block) (ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	old := l.base.Entries[entry]
	counts, err := counter.All(ctx, []content.Content{{Speaker: old.Content.Speaker, Blocks: []content.Block{b}}})
	if err != nil {
		return false, err
	}
	saved := int(old.Blocks[block] - counts[0].Blocks[0])
	if saved <= 0 {
		return false, nil
	}
	pieces := l.blocks[entry]
	if pieces == nil {
		for j := range old.Content.Blocks {
			pieces = append(pieces, rewrite.BlockPiece{Keep: j})
		}
		l.blocks[entry] = pieces
	}
	pieces[block] = rewrite.BlockPiece{Block: b}
	l.tokens[entry] -= saved
	l.total -= saved
	l.rung[old.ID] = l.taking
	return true, nil
}

func (l *ladder) drop(i int) {
	l.gone[i] = true
	l.total -= l.tokens[i]
	l.tokens[i] = 0
	l.rung[l.base.Entries[i].ID] = l.taking
}

// opaque reports whether one of the entries holds a block that this version does not know: nobody may remove it.
func (l *ladder) opaque(entries []int) bool {
	return slices.ContainsFunc(entries, func(i int) bool {
		return slices.ContainsFunc(l.entries[i].Blocks, func(b content.Block) bool { _, opaque := b.(content.Opaque); return opaque })
	})
}

// pieces are what is left, as the answer to a Compress: there is one place that judges those.
func (l *ladder) pieces() (pieces []rewrite.Piece) {
	from := 0
	keep := func(to int) {
		if from < to {
			pieces = append(pieces, rewrite.Keep{From: from, To: to})
		}
		from = to + 1
	}
	for i := range l.entries {
		switch blocks := l.blocks[i]; {
		case l.gone[i]:
			keep(i)
		case blocks != nil:
			keep(i)
			pieces = append(pieces, rewrite.Edited{Index: i, Blocks: blocks})
		}
	}
	keep(len(l.entries))
	return pieces
}

// holders are what counts most in a history, for people who have to make room by hand.
func holders(entries []*history.Entry) []outcome.LargeEntry {
	all := make([]outcome.LargeEntry, 0, len(entries))
	for i, e := range entries {
		h := outcome.LargeEntry{Index: i, EntryID: e.ID, Speaker: e.Content.Speaker, Tokens: e.Tokens}
		for _, b := range e.Content.Blocks {
			if r, ok := b.(content.ToolResponse); ok && h.Tool == "" {
				h.Tool = r.ToolName
			}
		}
		all = append(all, h)
	}
	slices.SortStableFunc(all, func(a, b outcome.LargeEntry) int { return cmp.Compare(b.Tokens, a.Tokens) })
	return slices.Clone(all[:min(len(all), 3)])
}
