package sessionlog

import (
	"errors"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// The tag has this number in every kind of record: [Tag] finds it without knowing the kind.
const (
	recordTag      = 1
	recordEncoding = 2
)

type Added struct {
	// Tag is a number that the writer gives to an append, 0 for none, to find out whether an unconfirmed append took
	// place.
	Tag uint64
	// Encoding names the tokenizer of the entries' counts. A reopened session counts with it, whatever the settings say
	// by then.
	Encoding string
	Entries  []*history.Entry
	// Once is the key of the addition; nil if it has none.
	Once *Once
}

// Rewritten is a rewrite of the history: see [history.Rewrite].
type Rewritten struct {
	Tag      uint64
	Encoding string
	// Step is the step of the turn that made it, as in [outcome.Change]; "" for the ladder. Strategy is the strategy in
	// force.
	Step, Strategy string
	history.Rewrite
}

// The numbers are part of the format.
const (
	addedEntry = 3
	addedOnce  = 4

	rewrittenStep     = 3
	rewrittenStrategy = 4
	rewrittenAdded    = 5 // the base's point
	rewrittenAppends  = 6
	rewrittenPiece    = 7
	rewrittenReason   = 8
	// Positions are increased by one, so 0 is none.
	pieceFrom   = 1
	pieceTo     = 2
	pieceEntry  = 3
	reasonIndex = 1
	reasonRule  = 2
	reasonBy    = 3 // increased by one
)

// Added encodes a record. The entries' place is not written: it is the number that the store gives to the record, and
// their order in it.
func (w *Writer) Added(a Added) []byte {
	m := record()
	m.uint(recordTag, a.Tag)
	m.string(recordEncoding, a.Encoding)
	m = append(make(message, 0, a.size(w.whole)), m...) // megabytes for a whole conversation: not grown, and new memory need not be cleared
	for _, e := range a.Entries {
		m.nested(addedEntry, func() { w.entry(&m, e) })
	}
	m.once(a.Once)
	return m.sealed(store.Added)
}

// Later returns the record for a store that need not keep bytes: it is encoded, with all contents in it, when it is
// read. The entries must not change.
func (a Added) Later() store.Record {
	return store.Record{Kind: store.Added, Size: a.size(true),
		Later: func() []byte { return (&Writer{whole: true}).Added(a) }}
}

// size returns the size of the record in bytes, or a little more; whole: with what is otherwise kept apart.
func (a Added) size(whole bool) int {
	size := 100 // what is not of the entries
	for _, e := range a.Entries {
		size += about(e.Content, whole)
	}
	return size
}

func about(c content.Content, whole bool) int {
	const around = 100 // of an entry, and of a block: its id, counts, lengths
	size := around
	for _, b := range c.Blocks {
		size += around
		p := content.Apart(b)
		for i := range p.Fields {
			if n := len(p.Values[i]); whole || n < large { // otherwise it is kept apart
				size += n
			}
		}
	}
	return size
}

// Added decodes a record. seq is its number in the log, a part of its entries' places.
func (r *Reader) Added(seq uint64, data []byte) (a Added, err error) {
	data, err = body(store.Added, data)
	if err != nil {
		return a, err
	}
	err = fields(data, func(f field) error {
		switch f.number {
		case recordTag:
			a.Tag = f.varint
		case recordEncoding:
			a.Encoding = f.string()
		case addedEntry:
			e, err := r.entry(f.bytes)
			if err != nil {
				return err
			}
			e.Place = history.Place{Record: seq, Index: len(a.Entries)}
			a.Entries = append(a.Entries, e)
		case addedOnce:
			d, err := readDone(f.bytes)
			a.Once = &d.Once
			return err
		}
		return nil
	})
	return a, err
}

// Rewritten encodes a record. It gives the new and edited entries their place in the record with the number seq. A
// rewrite that removes entries takes bytes for its pieces and not for the history.
func (w *Writer) Rewritten(seq uint64, rw Rewritten) []byte {
	m := record()
	m.uint(recordTag, rw.Tag)
	m.string(recordEncoding, rw.Encoding)
	m.string(rewrittenStep, rw.Step)
	m.string(rewrittenStrategy, rw.Strategy)
	// The point up to which the strategy saw the history: entries added since follow the rewrite.
	added, appends := rw.Base.Counts()
	m.uint(rewrittenAdded, added)
	m.uint(rewrittenAppends, appends)
	index := 0
	for _, p := range rw.Pieces {
		var piece message
		piece.uint(pieceFrom, uint64(p.From+1))
		if p.Entry == nil {
			piece.uint(pieceTo, uint64(p.To+1))
		} else {
			p.Entry.Place = history.Place{Record: seq, Index: index}
			index++
			piece.nested(pieceEntry, func() { w.entry(&piece, p.Entry) })
		}
		m.bytes(rewrittenPiece, piece)
	}
	// Sorted: the same rewrite always gives the same bytes.
	for _, at := range slices.Sorted(maps.Keys(rw.Reasons)) {
		var reason message
		reason.uint(reasonIndex, uint64(at))
		reason.string(reasonRule, rw.Reasons[at].Rule)
		if by := rw.Reasons[at].SupersededBy; by != nil {
			reason.uint(reasonBy, uint64(*by+1))
		}
		m.bytes(rewrittenReason, reason)
	}
	return m.sealed(store.Rewritten)
}

// Rewritten decodes a record. Errors wrap [ErrDamaged] or [ErrNewer].
func (r *Reader) Rewritten(seq uint64, data []byte) (rw Rewritten, err error) {
	data, err = body(store.Rewritten, data)
	if err != nil {
		return rw, err
	}
	var added, appends uint64
	made := 0
	err = fields(data, func(f field) error {
		switch f.number {
		case recordTag:
			rw.Tag = f.varint
		case recordEncoding:
			rw.Encoding = f.string()
		case rewrittenStep:
			rw.Step = f.string()
		case rewrittenStrategy:
			rw.Strategy = f.string()
		case rewrittenAdded:
			added = f.varint
		case rewrittenAppends:
			appends = f.varint
		case rewrittenPiece:
			p, err := r.piece(f.bytes)
			if err != nil {
				return err
			}
			if p.Entry != nil {
				p.Entry.Place = history.Place{Record: seq, Index: made}
				made++
			}
			rw.Pieces = append(rw.Pieces, p)
		case rewrittenReason:
			return rw.reason(f.bytes)
		}
		return nil
	})
	rw.Base = history.PointOf(added, appends)
	return rw, err
}

// piece decodes a piece of a rewrite. An entry without a position is new, one with a position is an edit of the entry
// there, and a piece without an entry keeps a range; anything else is [ErrDamaged].
func (r *Reader) piece(data []byte) (history.Piece, error) {
	// 0 is a position, so none is -1.
	p := history.Piece{From: -1, To: -1}
	err := fields(data, func(f field) (err error) {
		n := 0
		switch f.number {
		case pieceFrom:
			n, err = f.count()
			p.From = n - 1
		case pieceTo:
			n, err = f.count()
			p.To = n - 1
		case pieceEntry:
			p.Entry, err = r.entry(f.bytes)
		}
		return err
	})
	switch {
	case err != nil:
		return p, err
	case p.Entry == nil && p.From < 0:
		return p, damaged("a rewrite has an empty piece")
	// An edit replaces one entry: the end of its range is not written.
	case p.Entry != nil && p.From >= 0:
		p.To = p.From + 1
	}
	return p, nil
}

func (rw *Rewritten) reason(data []byte) error {
	at, reason := 0, sdk.Reason{}
	err := fields(data, func(f field) error {
		n, err := 0, error(nil)
		switch f.number {
		case reasonIndex:
			at, err = f.count()
		case reasonRule:
			reason.Rule = f.string()
		case reasonBy:
			n, err = f.count()
			n--
			reason.SupersededBy = &n
		}
		return err
	})
	if rw.Reasons == nil {
		rw.Reasons = map[int]sdk.Reason{}
	}
	rw.Reasons[at] = reason
	return err
}

// Tag returns the tag of a record of any kind, 0 if it has none, after checking the record. The error is [ErrNewer] or
// [ErrDamaged].
func Tag(kind store.Kind, data []byte) (tag uint64, err error) {
	data, err = body(kind, data)
	if err != nil {
		return 0, err
	}
	found := errors.New("the tag is the first field")
	_ = fields(data, func(f field) error {
		if f.number == recordTag {
			tag = f.varint
		}
		return found
	})
	return tag, nil
}
