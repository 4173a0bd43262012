package search

import (
	"encoding/binary"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// form is the first byte of an index's data. It changes with what passages or terms are: an index of another form is
// built again.
const form = 1

// Spot is where a passage is: in an entry of a record of the log, in a block of it.
type Spot struct {
	Record       uint64
	Index, Block int
	Part         int // which passage of the block, from 0
	Turn         int
	// Exchange is the record with the first call of the exchange that the entry is in.
	Exchange uint64
	terms    int
}

// Indexer makes a part of an index of a session from the entries that were added to it.
type Indexer struct {
	tools *tools.Taxonomy
	// skip are the tools whose calls and results are not indexed.
	skip func(tool string) bool

	exchange marks.Exchange
	ai       bool
	state
	last    uint64 // record
	data    []byte
	terms   [][]string
	counted map[string]bool
}

// state is what the next part of an index continues.
type state struct {
	turn     int
	exchange uint64
}

// NewIndexer returns one for the entries behind the part with the data before, nil for the first part. It must be given
// the entries of the records from From on again, with Again.
func NewIndexer(t *tools.Taxonomy, skip func(tool string) bool, before []byte) *Indexer {
	x := &Indexer{tools: t, skip: skip, counted: map[string]bool{}}
	x.state, _, _ = header(before)
	return x
}

// From is the record to begin at.
func (x *Indexer) From() uint64 { return x.state.exchange }

// Again takes an entry that is in the index.
func (x *Indexer) Again(record uint64, c *content.Content) { x.follow(record, c) }

func (x *Indexer) follow(record uint64, c *content.Content) (answered map[int]content.ToolCall) {
	if c.Speaker == content.AI && !x.ai {
		x.state.exchange = record
	}
	x.ai = c.Speaker == content.AI
	x.exchange.Add(c, func(block int, call content.ToolCall) {
		if answered == nil {
			answered = map[int]content.ToolCall{}
		}
		answered[block] = call
	})
	return answered
}

// Add takes the next entry, the one at index in the record.
func (x *Indexer) Add(record uint64, index int, c *content.Content) {
	answered := x.follow(record, c)
	if c.Speaker == content.Human {
		x.turn++
	}
	var blocks []byte
	n := uint64(0)
	for i, b := range c.Blocks {
		head := ""
		switch b := b.(type) {
		case content.ToolCall:
			if x.skip(b.Name) {
				continue
			}
			head = b.Name
		case content.ToolResponse:
			call, ok := answered[i]
			if x.skip(b.ToolName) || ok && x.skip(call.Name) {
				continue
			}
			head = b.ToolName
			if ok {
				head = call.Name + " " + Argument(x.tools, call)
			}
		}
		text := Text(b)
		spans := passages(text)
		if _, result := b.(content.ToolResponse); len(spans) == 0 || result && marks.HasRecalled(text) {
			continue
		}
		blocks = binary.AppendUvarint(blocks, uint64(i))
		blocks = binary.AppendUvarint(blocks, uint64(len(spans)))
		for _, at := range spans {
			found := x.distinct(head, text[at.from:at.to])
			x.terms = append(x.terms, found)
			blocks = binary.AppendUvarint(blocks, uint64(len(found)))
		}
		n++
	}
	if n == 0 {
		return
	}
	for _, v := range [...]uint64{record - x.last, uint64(index), uint64(x.turn), record - x.state.exchange, n} {
		x.data = binary.AppendUvarint(x.data, v)
	}
	x.data = append(x.data, blocks...)
	x.last = record
}

// Argument returns what a call is about, such as a path or a command, in one line.
func Argument(t *tools.Taxonomy, call content.ToolCall) string {
	line, _, _ := strings.Cut(t.UseCall(call).Subject, "\n")
	return cut(line, 200)
}

func (x *Indexer) distinct(texts ...string) (found []string) {
	clear(x.counted)
	for _, text := range texts {
		for t := range terms(text) {
			if !x.counted[t.text] {
				x.counted[t.text] = true
				found = append(found, t.text)
			}
		}
	}
	return found
}

// Size is about how many passages there are so far.
func (x *Indexer) Size() int { return len(x.terms) }

// Part returns what was made since the last call: the data that says where passages are, and the terms of each.
func (x *Indexer) Part() (data []byte, terms [][]string) {
	data = []byte{form}
	data = binary.AppendUvarint(data, uint64(x.turn))
	data = binary.AppendUvarint(data, x.state.exchange)
	data, terms = append(data, x.data...), x.terms
	x.data, x.terms, x.last = nil, nil, 0
	return data, terms
}

// header reads the beginning of a part's data. ok is false for a part of another form.
func header(data []byte) (s state, rest []byte, ok bool) {
	if len(data) == 0 || data[0] != form {
		return s, nil, false
	}
	r := reader{data: data[1:]}
	s.turn, s.exchange = int(r.next()), r.next()
	return s, r.data, !r.bad
}

type reader struct {
	data []byte
	bad  bool
}

func (r *reader) next() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.data, r.bad = nil, true
		return 0
	}
	r.data = r.data[n:]
	return v
}

// Index is what a store has of one session: where its passages are, and for each term of a query the numbers of those
// that have it, in ascending order.
type Index struct {
	Spots []Spot
	has   [][]uint32
}

// NewIndex reads what a store has. ok is false if it was made in another form, or is damaged: it must be made again.
func NewIndex(found store.Index) (x Index, ok bool) {
	if len(found.Parts) == 0 {
		return Index{has: make([][]uint32, len(found.Has))}, true
	}
	first := found.Parts[0].First
	for _, p := range found.Parts {
		if p.First-first != len(x.Spots) {
			return x, false
		}
		if x.Spots, ok = spots(p.Data, x.Spots); !ok {
			return x, false
		}
	}
	for _, list := range found.Has {
		numbers := make([]uint32, 0, len(list))
		for _, n := range list {
			// What is indexed meanwhile may have others.
			if at := int(n) - first; at >= 0 && at < len(x.Spots) {
				numbers = append(numbers, uint32(at))
			}
		}
		x.has = append(x.has, numbers)
	}
	return x, true
}

// spots reads where the passages of a part are, in their order. ok is false if the part is of another form.
func spots(data []byte, all []Spot) (_ []Spot, ok bool) {
	_, rest, ok := header(data)
	r := reader{data: rest}
	at := Spot{}
	for ok && len(r.data) > 0 && !r.bad {
		at.Record += r.next()
		at.Index, at.Turn = int(r.next()), int(r.next())
		at.Exchange = at.Record - r.next()
		for range r.next() {
			at.Block = int(r.next())
			n := int(r.next())
			for at.Part = 0; at.Part < n && !r.bad; at.Part++ {
				at.terms = int(r.next())
				all = append(all, at)
			}
			if r.bad {
				break
			}
		}
	}
	return all, ok && !r.bad
}
