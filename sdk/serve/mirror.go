package serve

import (
	"bytes"
	"fmt"
	"github.com/thresh-dev/thresh/sdk"
	"hash/maphash"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// mirror is a session's history as this process holds it between calls, so the host sends only what changes. It belongs
// to one call at a time: mirrors.take hands it out, and mirrors.keep takes it back after the call. A call that fails
// gives nothing back; the host then forgets what it sent, and both sides start again with everything.
type mirror struct {
	session string
	digest  wire.Digest
	// entries are what authors see, without a copy. A change that an author makes here by mistake would persist, hence
	// marks. Entries know their own position ([Content.Origin]).
	entries []sdk.Content
	sums    []int // sums[i] is the tokens of the entries before i
	bytes   int   // roughly what all of m takes in memory: loaded, and what Go needs around the texts

	// Texts refer to the messages that brought them, which are in memory as long as any of their entries is. So loaded,
	// the size of these messages, may exceed texts, the size of the entries: see repack.
	loaded, texts int

	marks   []mark // of the entries as they came
	arrived int    // the first entry that came with the last call; all of those are checked
	checked int    // the next of the others to be checked

	newer, older *mirror // neighbours in mirrors, in the order of use
	used         time.Time

	tools *tools.Taxonomy // of the last call; never nil after it

	memo      sdk.Memo
	memoBytes int // what memo and edits take in memory; part of bytes
	memoLen   int // how many entries at the beginning are still those that the memo was stored for
	memoFor   memoKey
	edits     []rewrite.Edit // what the call that stored the memo answered, until the history is rewritten
	applied   int            // [OptimizeInput.Applied]
}

// mark is what is noted of an entry before any author sees it.
type mark struct {
	hash  uint32 // 32 bits are enough: it finds mistakes, and an author who deceives it deceives only himself
	texts uint32 // bytes; a message has at most 256 MiB
}

func newMirror(session string) *mirror { return &mirror{session: session, sums: []int{0}} }

// fits reports whether a request builds on exactly what m holds. The length is compared too because the positions in
// pieces and answers depend on it.
func (m *mirror) fits(c wire.Call) bool {
	return uint64(len(m.entries)) == c.Held && m.digest == c.Digest && m.tools != nil
}

// apply takes in what a request sends, while it arrives. Without a rewrite its time depends on what is sent. After an
// error the mirror is useless: it may hold a part of the update under the old digest.
func (m *mirror) apply(up *wire.Update) error {
	same := len(m.entries)
	if len(up.Pieces) > 0 {
		m.applied = 0
		if len(m.edits) > 0 && follows(up.Pieces, m.edits, same) {
			m.applied = m.memoLen - removals(m.edits)
		}
		m.edits = nil
		var err error
		if same, err = m.rewrite(up.Pieces); err != nil {
			return err
		}
	}
	m.arrived = len(m.entries)
	// A whole history gets no spare capacity: sessions that are only restored never need it.
	if m.entries == nil {
		m.entries, m.sums = make([]sdk.Content, 0, up.Count), append(make([]int, 0, up.Count+1), 0)
		m.marks = make([]mark, 0, up.Count)
	}
	for e, err := range up.Entries {
		if err != nil {
			return err
		}
		m.add(e.Content, e.Tokens)
	}
	m.loaded += up.Bytes
	m.bytes += up.Bytes
	if m.loaded > 2*m.texts+repackAbove {
		if err := m.repack(); err != nil {
			return err
		}
	}
	m.digest = up.Digest
	m.memoLen = min(m.memoLen, same)
	// A memo that fits nothing may hold on to texts that are gone.
	if m.memoLen == 0 && m.applied == 0 {
		m.memo = sdk.Memo{}
	}
	m.weighMemo()
	return nil
}

func (m *mirror) add(c sdk.Content, tokens int) {
	k := markOf(&c)
	m.texts += int(k.texts)
	m.bytes += around(&c)
	m.put(c, tokens, k)
}

func (m *mirror) put(c sdk.Content, tokens int, k mark) {
	m.entries = append(m.entries, c.WithOrigin(len(m.entries)))
	m.sums = append(m.sums, m.sums[len(m.sums)-1]+tokens)
	m.marks = append(m.marks, k)
}

// drop takes entries that are no longer kept out of the account.
func (m *mirror) drop(entries []sdk.Content, marks []mark) {
	for i := range entries {
		m.texts -= int(marks[i].texts)
		m.bytes -= around(&entries[i])
	}
}

// rewrite makes of the entries what the pieces say, and returns how many at the beginning are unchanged. It does not
// look at texts, unless they are new or gone.
func (m *mirror) rewrite(pieces []wire.MirrorPiece) (same int, err error) {
	if p := pieces[0]; p.Entry == nil && p.Edited == nil && p.Kept.From == 0 && p.Kept.To <= len(m.entries) {
		same, pieces = p.Kept.To, pieces[1:]
	}
	// Without new entries each one moves toward the beginning, to a place that was read before.
	old, sums, marks := m.entries[same:], slices.Clone(m.sums[same:]), m.marks[same:]
	if slices.ContainsFunc(pieces, func(p wire.MirrorPiece) bool { return p.Entry != nil }) {
		old, marks = slices.Clone(old), slices.Clone(marks)
	}
	was := m.entries
	m.entries, m.sums, m.marks = m.entries[:same], m.sums[:same+1], m.marks[:same]
	next := 0
	for i, p := range pieces {
		switch {
		case p.Entry != nil:
			m.add(p.Entry.Content, p.Entry.Tokens)
		case p.Edited != nil:
			at := p.Edited.Index - same
			if at < next || at >= len(old) {
				return 0, badPiece(i, fmt.Sprintf("edits entry %d", p.Edited.Index))
			}
			c := old[at]
			if c.Blocks, err = applyBlocks(c.Blocks, p.Edited.Blocks); err != nil {
				return 0, badPiece(i, err.Error())
			}
			m.drop(old[next:at+1], marks[next:at+1])
			m.add(c, p.Tokens)
			next = at + 1
		default:
			from, to := p.Kept.From-same, p.Kept.To-same
			if from < next || to < from || to > len(old) {
				return 0, badPiece(i, fmt.Sprintf("keeps [%d, %d)", p.Kept.From, p.Kept.To))
			}
			m.drop(old[next:from], marks[next:from])
			for at := from; at < to; at++ {
				m.put(old[at], sums[at+1]-sums[at], marks[at])
			}
			next = to
		}
	}
	m.drop(old[next:], marks[next:])
	// The garbage collector would keep what is behind the end.
	clear(was[min(len(m.entries), len(was)):])
	return same, nil
}

func badPiece(i int, what string) error {
	return fmt.Errorf("%w: piece %d of the history %s, which is out of bounds or out of order", wire.ErrMalformed, i,
		what)
}

// applyBlocks returns the blocks that the pieces make of an entry's blocks. It never writes to old: an author's memo
// may refer to it.
func applyBlocks(old []sdk.Block, pieces []rewrite.BlockPiece) ([]sdk.Block, error) {
	out := make([]sdk.Block, len(pieces))
	next := 0
	for i, p := range pieces {
		switch {
		case p.Block != nil:
			out[i] = p.Block
		case p.Keep < next || p.Keep >= len(old):
			return nil, fmt.Errorf("keeps block %d", p.Keep)
		default:
			out[i], next = old[p.Keep], p.Keep+1
		}
	}
	return out, nil
}

const repackAbove = 64 << 10

// repack gives the texts memory of their own after a rewrite that left less than half of what was loaded. It is linear
// in what is left, and at least as much has to be sent before it is due again.
func (m *mirror) repack() error {
	m.bytes -= m.loaded
	m.loaded = 0
	var buf []byte
	for i := range m.entries {
		buf = wire.AppendContent(buf[:0], m.entries[i])
		c, err := wire.CopyContent(bytes.Clone(buf))
		if err != nil {
			return err
		}
		m.entries[i] = c.WithOrigin(i)
		m.loaded += len(buf)
	}
	m.bytes += m.loaded
	return nil
}

// view returns the history for one call. It has no spare capacity, so an author's append copies.
func (m *mirror) view() *history {
	return &history{entries: slices.Clip(m.entries), sums: m.sums}
}

// perCheck is how many entries are checked after each Optimize in addition to the new ones. For entries of 1 KB this
// takes 1 µs, and 5,000 entries have all been checked after 625 calls.
const perCheck = 8

// untouched returns an error if the author changed an entry in place: a change must be an edit, or it would be lost
// silently and the next call would see it. It checks the new entries and a few of the others in turn, so its cost does
// not depend on the history; package sdktest and `thresh plugins verify` compare everything.
func (m *mirror) untouched() error {
	for i := m.arrived; i < len(m.entries); i++ {
		if markOf(&m.entries[i]) != m.marks[i] {
			return changedInPlace(i, "")
		}
	}
	for range min(perCheck, m.arrived) {
		if m.checked >= m.arrived {
			m.checked = 0
		}
		if i := m.checked; markOf(&m.entries[i]) != m.marks[i] {
			return changedInPlace(i, " in this call or an earlier one of the session")
		}
		m.checked++
	}
	return nil
}

func changedInPlace(entry int, when string) error {
	return fmt.Errorf("%w: Optimize changed entry %d of in.History in place%s; put a changed copy into Replacements",
		rewrite.ErrBadResult, entry, when)
}

// seed is the process's own; hashes never leave it.
var seed = maphash.MakeSeed()

// markOf covers every byte of an entry but its origin.
func markOf(c *sdk.Content) mark {
	hash, texts := wire.Fingerprint(seed, c)
	return mark{uint32(hash >> 32), uint32(texts)}
}

// around is about how many bytes Go needs around the texts of an entry.
func around(c *sdk.Content) int {
	const (
		entry = 80 + 8 + 8 // a Content, its sum, its mark
		block = 16 + 64    // an interface, and the struct behind it
	)
	return entry + block*len(c.Blocks)
}
