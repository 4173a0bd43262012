package search

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// A part of an index has a piece that says where its passages are, and for each group of terms one that says which
// passages have them: a search reads the groups of its terms.
const (
	// form is the first byte of the first piece. It changes with what passages, terms or groups are: an index of another
	// form is built again.
	form   = 4
	places = 0  // the number of the first piece
	groups = 64 // the others have 1 to 64
)

// hashed is what an index has of a term. If two terms of a session share one, which is unlikely, a passage with either
// ranks as if it had both.
type hashed struct {
	group uint8
	term  uint32
}

func hash(term string) hashed {
	h := fnv.New64a()
	_, _ = io.WriteString(h, term) // never fails
	sum := h.Sum64()
	return hashed{1 + uint8(sum%groups), uint32(sum >> 32)}
}

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
	last     uint64 // record
	places   []byte
	passages int
	// In the order in which they came first.
	terms []*posting
	known map[hashed]*posting
	words map[string]*word // the same few come again and again
}

// word has the terms of a word.
type word struct {
	terms []*posting
	next  int // behind the last passage that has it
}

// posting has the passages of a part that have a term: for each, how many come between the one before and it.
type posting struct {
	hashed
	next   int // behind the last one
	passed []byte
}

// state is what the next part of an index continues.
type state struct {
	turn     int
	exchange uint64
}

// NewIndexer returns one for the entries behind a part, the zero Part for the first ones. ok is false if the part has
// another form: the index must be made again, and the indexer begins with the first entries. It must be given the
// entries of the records from From on again, with Again.
func NewIndexer(t *tools.Taxonomy, skip func(tool string) bool, behind store.Part) (_ *Indexer, ok bool) {
	x := &Indexer{tools: t, skip: skip, known: map[hashed]*posting{}, words: map[string]*word{}}
	if behind.Until == 0 {
		return x, true
	}
	if s, _, known := header(behind.Pieces[places]); known {
		x.state, ok = s, true
	}
	return x, ok
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
		if len(spans) == 0 {
			continue
		}
		blocks = binary.AppendUvarint(blocks, uint64(i))
		blocks = binary.AppendUvarint(blocks, uint64(len(spans)))
		for _, at := range spans {
			blocks = binary.AppendUvarint(blocks, uint64(x.passage(head, text[at.from:at.to])))
		}
		n++
	}
	if n == 0 {
		return
	}
	for _, v := range [...]uint64{record - x.last, uint64(index), uint64(x.turn), record - x.state.exchange, n} {
		x.places = binary.AppendUvarint(x.places, v)
	}
	x.places = append(x.places, blocks...)
	x.last = record
}

// Argument returns what a call is about, such as a path or a command, in one line.
func Argument(t *tools.Taxonomy, call content.ToolCall) string {
	line, _, _ := strings.Cut(t.UseCall(call).Subject, "\n")
	return cut(line, 200)
}

// passage adds the next passage, and returns how many terms it has.
func (x *Indexer) passage(texts ...string) (n int) {
	for _, text := range texts {
		for text := range words(text) {
			w := x.words[text]
			if w == nil {
				w = &word{terms: x.postings(text)}
				x.words[text] = w
			}
			if w.next > x.passages {
				continue
			}
			w.next = x.passages + 1
			for _, p := range w.terms {
				if p.next <= x.passages {
					p.passed = binary.AppendUvarint(p.passed, uint64(x.passages-p.next))
					p.next = x.passages + 1
					n++
				}
			}
		}
	}
	x.passages++
	return n
}

// postings returns those of a word's terms.
func (x *Indexer) postings(word string) (all []*posting) {
	for t := range spelled(word) {
		h := hash(t.text)
		p := x.known[h]
		if p == nil {
			p = &posting{hashed: h}
			x.known[h] = p
			x.terms = append(x.terms, p)
		}
		all = append(all, p)
	}
	return all
}

// Passages is how many there are since the last part.
func (x *Indexer) Passages() int { return x.passages }

// Part returns the pieces of what was added since the last call.
func (x *Indexer) Part() (pieces map[int][]byte) {
	at := []byte{form}
	at = binary.AppendUvarint(at, uint64(x.turn))
	at = binary.AppendUvarint(at, x.state.exchange)
	pieces = map[int][]byte{places: append(at, x.places...)}
	for _, p := range x.terms {
		piece := binary.LittleEndian.AppendUint32(pieces[int(p.group)], p.term)
		piece = binary.AppendUvarint(piece, uint64(len(p.passed)))
		pieces[int(p.group)] = append(piece, p.passed...)
	}
	x.places, x.passages, x.terms, x.last = nil, 0, nil, 0
	clear(x.known)
	clear(x.words)
	return pieces
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

// entry reads an entry of a group of terms.
func (r *reader) entry() (term uint32, passed reader) {
	if len(r.data) >= 4 {
		term, r.data = binary.LittleEndian.Uint32(r.data), r.data[4:]
		if n := r.next(); n <= uint64(len(r.data)) {
			passed.data, r.data = r.data[:n], r.data[n:]
			return term, passed
		}
	}
	r.data, r.bad = nil, true
	return term, passed
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

// Index is what a search knows of one session: where its passages are, and for each term of a query the numbers of
// those that have it, in ascending order.
type Index struct {
	Spots []Spot
	has   [][]uint32
}

// NewIndex reads what a store has, with the pieces that a query needs. ok is false if it was made in another form, or
// is damaged: it must be made again.
func (p Parsed) NewIndex(parts []store.Part) (x Index, ok bool) {
	x.has = make([][]uint32, len(p.Terms))
	asked := map[uint8]map[uint32]int{}
	for i, t := range p.Terms {
		h := hash(t)
		if asked[h.group] == nil {
			asked[h.group] = map[uint32]int{}
		}
		asked[h.group][h.term] = i
	}
	for _, part := range parts {
		first := len(x.Spots)
		if x.Spots, ok = spots(part.Pieces[places], x.Spots); !ok {
			return x, false
		}
		for group, terms := range asked {
			for r := (reader{data: part.Pieces[int(group)]}); len(r.data) > 0; {
				term, passed := r.entry()
				if r.bad {
					return x, false
				}
				i, ok := terms[term]
				if !ok {
					continue
				}
				for n := uint64(first); len(passed.data) > 0; n++ {
					if n += passed.next(); passed.bad || n >= uint64(len(x.Spots)) {
						return x, false
					}
					x.has[i] = append(x.has[i], uint32(n))
				}
			}
		}
	}
	return x, true
}

// Pieces are the numbers of the pieces of an index that a search reads, in ascending order.
func (p Parsed) Pieces() (numbers []int) {
	for _, t := range p.Terms {
		numbers = append(numbers, int(hash(t).group))
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
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
