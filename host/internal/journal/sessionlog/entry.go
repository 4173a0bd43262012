package sessionlog

import (
	"encoding/json"
	"slices"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/sdk/content"
)

// 16 and above are free for values that are kept apart. A number is never given another meaning: later versions read
// logs.
const (
	entryID       = 1
	entrySpeaker  = 2
	entryBlock    = 3
	entryMetadata = 4
	entryExtra    = 5
	entryTokens   = 6
	entryCounts   = 7
	entryNoBlocks = 8 // an empty list of blocks, which is not the same as none
	entryWas      = 9
	entryStands   = 10
)

// The other fields of a block have the numbers of [content.KindField.Stored]. With one layout for all kinds, one rule
// keeps values apart.
const (
	blockKind  = 1
	blockExtra = 7
)

const (
	extraName  = 1
	extraValue = 2
)

// entry stores the id and the counts because both must be the same after a restart: plugins refer to the id, and
// counting a long history again would take seconds.
func (w *Writer) entry(m *message, e *history.Entry) {
	m.string(entryID, e.ID)
	w.content(m, e.Content)
	m.int(entryTokens, int64(e.Tokens))
	m.counts(entryCounts, e.Blocks)
	m.sums(entryWas, e.Was)
	m.sums(entryStands, e.Stands)
}

func (m *message) sums(field protowire.Number, all []history.Sum) {
	var raw []byte
	for _, sum := range all {
		raw = append(raw, sum[:]...)
	}
	m.string(field, string(raw))
}

func (w *Writer) content(m *message, c content.Content) {
	m.string(entrySpeaker, string(c.Speaker))
	for _, b := range c.Blocks {
		m.nested(entryBlock, func() { w.block(m, b) })
	}
	// A repeated field cannot tell an empty list from none, and the agent gets back the JSON it sent.
	m.bool(entryNoBlocks, c.Blocks != nil && len(c.Blocks) == 0)
	w.value(m, entryMetadata, view(c.Metadata))
	w.extra(m, entryExtra, c.Extra)
}

// block takes the identifiers for values too: an agent or provider may put a signature of several kB there.
func (w *Writer) block(m *message, b content.Block) {
	p := content.Apart(b)
	m.uint(blockKind, uint64(p.Number))
	var values [apart]string
	for i := range p.Fields {
		values[p.Fields[i].Stored] = p.Values[i]
	}
	for number, v := range values { // ascending: the same block always gives the same bytes
		if v != "" {
			w.value(m, protowire.Number(number), v)
		}
	}
	w.extra(m, blockExtra, p.Extra)
}

// view returns raw JSON as a string without copying it. Nothing writes to the JSON of an entry.
func view(raw json.RawMessage) string { return unsafe.String(unsafe.SliceData(raw), len(raw)) }

func (w *Writer) extra(m *message, number protowire.Number, list content.Fields) {
	for _, f := range list.All() {
		m.nested(number, func() { // written even if name and value are empty
			m.string(extraName, f.Name)
			w.value(m, extraValue, view(f.Value))
		})
	}
}

// entry requires a count for each block: a history takes the count of a block by its position.
func (r *Reader) entry(data []byte) (*history.Entry, error) {
	e := &history.Entry{}
	var extra []content.Field
	err := fields(data, func(f field) error {
		f, err := r.value(f)
		if err != nil {
			return err
		}
		switch f.number {
		case entryID:
			e.ID = f.string()
		case entryTokens:
			e.Tokens = int(f.int())
		case entryCounts:
			e.Blocks, err = f.counts()
		case entryWas, entryStands:
			all := &e.Was
			if f.number == entryStands {
				all = &e.Stands
			}
			for sum := range slices.Chunk(f.bytes, len(history.Sum{})) {
				if len(sum) < len(history.Sum{}) {
					return damaged("an entry's sums have %d bytes", len(f.bytes))
				}
				*all = append(*all, history.Sum(sum))
			}
		default:
			err = r.content(&e.Content, &extra, f)
		}
		return err
	})
	e.Content.Extra = content.FieldsOf(extra...)
	if err == nil && len(e.Blocks) != len(e.Content.Blocks) {
		err = damaged("an entry has %d blocks and the counts of %d", len(e.Content.Blocks), len(e.Blocks))
	}
	if err == nil && e.Was != nil && len(e.Was) != len(e.Content.Blocks) {
		err = damaged("an entry has %d blocks and %d sums", len(e.Content.Blocks), len(e.Was))
	}
	return e, err
}

func (r *Reader) content(c *content.Content, extra *[]content.Field, f field) error {
	switch f.number {
	case entrySpeaker:
		c.Speaker = content.SpeakerNamed(f.bytes)
	case entryBlock:
		b, err := r.block(f.bytes)
		if err != nil {
			return err
		}
		c.Blocks = append(c.Blocks, b)
	case entryNoBlocks:
		// Empty, but not nil: the agent sent a list.
		c.Blocks = []content.Block{}
	case entryMetadata:
		c.Metadata = f.raw()
	case entryExtra:
		one, err := r.extra(f)
		*extra = append(*extra, one)
		return err
	}
	return nil
}

// block collects the fields and makes the block at the end: the kind may come in any place.
func (r *Reader) block(data []byte) (content.Block, error) {
	var p content.Parts
	var values [apart][]byte // by number
	var list []content.Field
	err := fields(data, func(f field) error {
		f, err := r.value(f)
		switch {
		case err != nil:
			return err
		case f.number == blockKind:
			// A kind that is not listed cannot be skipped like an unknown field: without the block its exchange would be
			// broken. A later version that adds a kind has to raise the version of the form.
			if p.Kind = content.KindNumbered(f.varint); p.Kind == nil {
				return damaged("a block is of kind %d", f.varint)
			}
		case f.number == blockExtra:
			one, err := r.extra(f)
			list = append(list, one)
			return err
		case f.number < apart:
			values[f.number] = f.bytes
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if p.Kind == nil {
		return nil, damaged("a block has no kind")
	}
	for i, f := range p.Fields {
		if value := values[f.Stored]; f.JSON() {
			p.Values[i] = view(value)
		} else {
			p.Values[i] = string(value)
		}
	}
	p.Extra = content.FieldsOf(list...)
	return p.Block(), nil
}

func (r *Reader) extra(of field) (content.Field, error) {
	var one content.Field
	err := fields(of.bytes, func(f field) error {
		f, err := r.value(f)
		switch f.number {
		case extraName:
			one.Name = f.string()
		case extraValue:
			one.Value = f.raw()
		}
		return err
	})
	return one, err
}
