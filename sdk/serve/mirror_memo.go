package serve

import (
	"bytes"
	"github.com/thresh-dev/thresh/sdk"
	"slices"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// memoKey is everything besides the history that an Optimize may depend on. A change of it ends a memo.
type memoKey struct {
	root    string
	config  sdk.Config
	tools   *tools.Taxonomy // shared between calls by taxonomies
	density sdk.DensityConfig
}

// equal compares the taxonomies as pointers: one that was parsed again costs a memo and nothing else.
func (k memoKey) equal(l memoKey) bool {
	return k.root == l.root && k.tools == l.tools && k.density == l.density && bytes.Equal(k.config, l.config)
}

func (m *mirror) prepareMemo(k memoKey, in *sdk.OptimizeInput) {
	if !m.memoFor.equal(k) {
		m.memo, m.memoLen, m.memoFor, m.edits, m.applied = sdk.Memo{}, 0, k, nil, 0
		m.weighMemo()
	}
	in.Memo, in.Unchanged, in.Applied = &m.memo, m.memoLen, m.applied
}

// settleMemo notes what the memo fits after a successful Optimize. A memo not stored in this call still fits what it
// did.
func (m *mirror) settleMemo(edits []rewrite.Edit) {
	if m.memo.Stored() {
		m.memoLen, m.edits, m.applied = len(m.entries), edits, 0
	}
	if m.memo.Load() == nil {
		m.memoLen, m.edits, m.applied = 0, nil, 0
	}
	m.weighMemo()
}

func (m *mirror) weighMemo() {
	const edit = 64 + 2*24 // with its blocks, of which few are new
	m.bytes -= m.memoBytes
	m.memoBytes = edit * len(m.edits)
	if v, ok := m.memo.Load().(interface{ MemoBytes() int }); ok {
		m.memoBytes += max(v.MemoBytes(), 0)
	}
	m.bytes += m.memoBytes
}

// follows reports whether pieces do to n entries exactly what edits ask for, in time proportional to both. A host may
// cut runs of kept entries as it likes. Whether the pieces are in bounds is for [mirror.rewrite] to find out.
func follows(pieces []wire.MirrorPiece, edits []rewrite.Edit, n int) bool {
	next := 0 // the first entry that no piece names so far
	// removed passes over the entries before to, which no piece names: the edits must remove them all.
	removed := func(to int) bool {
		for ; next < to && len(edits) > 0 && edits[0].Remove && edits[0].Index == next; next++ {
			edits = edits[1:]
		}
		return next == to
	}
	for _, p := range pieces {
		switch {
		case p.Entry != nil: // edits make no entries
			return false
		case p.Edited != nil:
			if !removed(p.Edited.Index) || len(edits) == 0 || edits[0].Remove || edits[0].Index != next ||
				!slices.EqualFunc(p.Edited.Blocks, edits[0].Blocks, samePiece) {
				return false
			}
			edits = edits[1:]
			next++
		default: // a run of kept entries, which no edit may name
			if !removed(p.Kept.From) || len(edits) > 0 && edits[0].Index < p.Kept.To {
				return false
			}
			next = p.Kept.To
		}
	}
	return removed(n) && len(edits) == 0
}

// samePiece compares new blocks by what they say: the host has decoded and encoded them since.
func samePiece(a, b rewrite.BlockPiece) bool {
	if a.Block == nil || b.Block == nil {
		return a.Block == nil && b.Block == nil && a.Keep == b.Keep
	}
	return content.Equal(a.Block, b.Block)
}

func removals(edits []rewrite.Edit) (n int) {
	for _, e := range edits {
		if e.Remove {
			n++
		}
	}
	return n
}
