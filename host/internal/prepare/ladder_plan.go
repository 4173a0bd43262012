package prepare

import (
	"context"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
)

// ladder is a rewrite in progress: which entries and blocks are left, and what they count. The history itself changes
// only when all rungs together are enough. Slices by position have an element for each entry of base. It is used by one
// goroutine, for one request.
type ladder struct {
	base    history.Snapshot
	counter Counter
	entries []content.Content            // the contents of base
	blocks  map[int][]rewrite.BlockPiece // by position, of entries with replaced blocks
	gone    []bool                       // by position
	tokens  []int                        // of each entry as it is sent; 0 if it is gone or withheld
	total   int                          // the sum of tokens
	last    int                          // where the last exchange begins; everything from there on is kept

	// hard is what the history may count; roomy is less: the next turn is not over the limit again at once.
	hard, roomy int

	gaps   gaps
	taking outcome.Rung            // the current rung
	rung   map[string]outcome.Rung // by the id of an entry: the last rung that touched it
	steps  []outcome.LadderStep

	// withheld are responses that no request contains, because they answer nothing: removing them makes no room.
	withheld map[withheld]bool
}

type withheld struct{ entryID, callID string }

func (t *turn) newLadder(ctx context.Context, base history.Snapshot, view history.View) (l *ladder, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := len(base.Entries)
	l = &ladder{
		base: base, counter: t.counter, entries: base.Contents(),
		blocks: map[int][]rewrite.BlockPiece{}, gone: make([]bool, n), tokens: make([]int, n),
		rung: map[string]outcome.Rung{}, withheld: map[withheld]bool{},
	}
	// By id, as a view has entries that the history has not.
	sent := sentTokens(view)
	for i, e := range base.Entries {
		l.tokens[i] = sent[e.ID]
		l.total += l.tokens[i]
	}
	for _, p := range view.Problems {
		if p.Kind == outcome.OrphanedResponse {
			l.withheld[withheld{p.EntryID, p.CallID}] = true
		}
	}
	if l.gaps, err = newGaps(ctx, t.counter, l.entries); err != nil {
		return nil, err
	}
	// The current exchange is never removed: the model is in the middle of it.
	l.last = lastExchange(l.entries)
	most := func(tokens float64) int { // the history's tokens in a request of so many
		return l.total - t.hostTokens(t.outcome.Projected-int(tokens))
	}
	hard := float64(t.outcome.Limits.Hard)
	l.hard, l.roomy = most(hard), most(humanRoom*hard)
	return l, nil
}

// sentTokens returns what each entry of the history counts in a view, by id. A response made for the view counts for
// the entry of the AI whose call it answers, and is removed with it.
func sentTokens(view history.View) map[string]int {
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

// lastExchange returns where the last exchange begins: the last consecutive entries of the AI. It is the end of the
// history if the AI has not spoken.
func lastExchange(entries []content.Content) int {
	last := len(entries)
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Speaker == content.AI {
			last = i
			break
		}
	}
	// Parallel calls may be in several entries; their responses follow the last of them.
	for last > 0 && entries[last-1].Speaker == content.AI {
		last--
	}
	return last
}

// replace replaces a block. It does nothing, and ok is false, if that would not save tokens.
func (l *ladder) replace(ctx context.Context, entry, block int, b content.Block) (ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	old := l.base.Entries[entry]
	counts, err := l.counter.All(ctx, []content.Content{{Speaker: old.Content.Speaker, Blocks: []content.Block{b}}})
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

// drop removes an entry. Whoever drops a call drops its responses too.
func (l *ladder) drop(i int) {
	// Replaced blocks no longer matter: pieces looks at gone first.
	l.gone[i] = true
	l.total += l.gaps.join(i) - l.tokens[i]
	l.tokens[i] = 0
	l.rung[l.base.Entries[i].ID] = l.taking
}

// stays reports whether one of the entries is pinned, a mark, or holds an unknown block: the host cannot tell what would
// be lost.
func (l *ladder) stays(entries ...int) bool {
	unknown := func(b content.Block) bool { _, ok := b.(content.Opaque); return ok }
	return slices.ContainsFunc(entries, func(i int) bool {
		_, mark := check.GapOf(l.entries[i])
		return mark || l.entries[i].Pinned() || slices.ContainsFunc(l.entries[i].Blocks, unknown)
	})
}

// plan goes through the same check as a strategy's answer: a fault of the ladder cannot part a call from its response.
func (l *ladder) plan(ctx context.Context) (*history.Plan, error) {
	return l.base.PlanCompress(ctx, l.base.Entries, "", l.pieces(), l.counter.All)
}

// pieces is a strategy's answer to a Compress, so the same code checks the ladder.
func (l *ladder) pieces() (pieces []rewrite.Piece) {
	from := 0
	keepUntil := func(to int) {
		if from < to {
			pieces = append(pieces, rewrite.Keep{From: from, To: to})
		}
		from = to + 1
	}
	for i := range l.entries {
		switch blocks := l.blocks[i]; {
		case l.gone[i]:
			keepUntil(i)
		case blocks != nil:
			keepUntil(i)
			pieces = append(pieces, rewrite.Edited{Index: i, Blocks: blocks})
		}
	}
	keepUntil(len(l.entries))
	return pieces
}
