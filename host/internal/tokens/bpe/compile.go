package bpe

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Compile returns a vocabulary in the form that [Load] reads. ranks has the rank of every token, by its bytes. Ranks
// are distinct and may have gaps; the first 256 are the single bytes, in any order.
//
// It returns an error if merging the bytes of a token, lowest rank first, does not give that token: counting relies on
// this. It holds for every vocabulary made by byte-pair training.
func Compile(ranks map[string]int) ([]byte, error) {
	c := compiler{ranks: ranks}
	for token, rank := range ranks {
		if rank < 0 || rank >= maxTokens || token == "" || len(token) > maxTokenLength {
			return nil, fmt.Errorf("token %q of rank %d: want 1 to %d bytes and a rank below %d",
				token, rank, maxTokenLength, maxTokens)
		}
		c.tokens = append(c.tokens, make([]string, max(0, rank+1-len(c.tokens)))...)
		if c.tokens[rank] != "" {
			return nil, fmt.Errorf("tokens %q and %q have the same rank", token, c.tokens[rank])
		}
		c.tokens[rank] = token
	}
	// So every text has tokens, even bytes that are not UTF-8, and single bytes are recognised by their rank.
	for b := range 256 {
		if rank, ok := ranks[string([]byte{byte(b)})]; !ok || rank >= 1<<8 {
			return nil, fmt.Errorf("byte %#02x is no token below 256", b)
		}
	}
	trie, err := c.trie()
	if err != nil {
		return nil, err
	}
	out := binary.LittleEndian.AppendUint32(nil, magic)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(c.tokens)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(trie.ids)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(trie.entries)))
	for _, e := range trie.entries {
		out = binary.LittleEndian.AppendUint32(out, uint32(e))
	}
	for _, id := range trie.ids {
		out = append24(out, uint32(id))
	}
	for id, token := range c.tokens {
		// An empty record keeps the position of the ranks after it.
		if token == "" {
			out = append(out, make([]byte, record)...)
			continue
		}
		left, right, err := c.split(id)
		if err != nil {
			return nil, err
		}
		out = append(out, byte(len(token)))
		out = append24(append24(append24(out, left), right), c.prefix(token))
	}
	return out, nil
}

// compiler makes a table: slowly, so that loading is fast.
type compiler struct {
	ranks  map[string]int
	tokens []string // by rank; "" where there is none
}

// split returns the two tokens that a token is merged from; twice itself for a single byte.
func (c *compiler) split(id int) (left, right uint32, err error) {
	token := c.tokens[id]
	if len(token) == 1 {
		return uint32(id), uint32(id), nil
	}
	ends := make([]int, len(token)) // of the parts
	for i := range ends {
		ends[i] = i + 1
	}
	// Quadratic, but a token has at most 255 bytes. It stops one merge before the token itself.
	for len(ends) > 2 {
		best, at, from := len(c.tokens), -1, 0
		for i := range len(ends) - 1 {
			if rank, ok := c.ranks[token[from:ends[i+1]]]; ok && rank < best {
				best, at = rank, i
			}
			from = ends[i]
		}
		// A part above the token's own rank would be merged after it.
		if at < 0 || best >= id {
			return 0, 0, fmt.Errorf("token %q of rank %d is not what merging its bytes gives", token, id)
		}
		ends = slices.Delete(ends, at, at+1)
	}
	return uint32(c.ranks[token[:ends[0]]]), uint32(c.ranks[token[ends[0]:]]), nil
}

// prefix returns the longest token that token begins with, other than itself; absent for a single byte.
func (c *compiler) prefix(token string) uint32 {
	for n := len(token) - 1; n > 0; n-- {
		if id, ok := c.ranks[token[:n]]; ok {
			return uint32(id)
		}
	}
	return absent
}

type trie struct {
	entries []entry
	ids     []int // of the tokens, in the order of their entries
}

type node struct {
	id       int // of the token that ends here, or -1
	children []edge
	slot     int // its place in the array, once it has one
}

type edge struct {
	label byte
	to    *node
}

// trie places the nodes of a trie in one array: the child of a node for a byte b is at base XOR b. No two nodes have
// the same base, so the byte that leads to an entry identifies its parent, and a step is one comparison.
func (c *compiler) trie() (trie, error) {
	root := c.nodes()
	// Nodes with many children are placed first, while there is room. Those with one child, which are most, follow
	// depth first: the end of a token is then in one or two cache lines.
	parents := collect(root, nil)
	slices.SortStableFunc(parents, func(a, b *node) int { return cmp.Compare(len(b.children), len(a.children)) })
	// The root stays first: it has entry 0.
	parents = slices.Insert(slices.DeleteFunc(parents, func(n *node) bool { return n == root }), 0, root)
	p := placement{next: []int{0}}
	p.grow()
	p.take(0) // the root
	bases := map[*node]int{}
	for _, n := range parents {
		base := p.place(n.children)
		bases[n] = base
		for _, e := range n.children {
			e.to.slot = base ^ int(e.label)
		}
	}
	// The base of an entry has 22 bits.
	if len(p.based) > maxEntries {
		return trie{}, errors.New("the trie is too large for the format")
	}
	t := trie{entries: make([]entry, len(p.based))}
	for i := range t.entries {
		t.entries[i] = emptyEntry
	}
	// 256 empty entries at the end save a bounds check per step.
	leaf := len(p.based) // an entry without children points beyond the end
	ends := make([]int, len(p.based))
	for i := range ends {
		ends[i] = -1
	}
	var fill func(n *node, label int)
	fill = func(n *node, label int) {
		base, ok := bases[n]
		if !ok {
			base = leaf
		}
		t.entries[n.slot] = newEntry(label, base, n.id >= 0)
		ends[n.slot] = n.id
		for _, e := range n.children {
			fill(e.to, int(e.label))
		}
	}
	fill(root, noLabel)
	for range 256 {
		t.entries = append(t.entries, emptyEntry)
	}
	for _, id := range ends {
		if id >= 0 {
			t.ids = append(t.ids, id)
		}
	}
	return t, nil
}

// nodes builds the trie as a tree of pointers, with the edges of each node ascending.
func (c *compiler) nodes() *node {
	order := slices.Sorted(maps.Values(c.ranks))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(c.tokens[a], c.tokens[b]) })
	root := &node{id: -1}
	for _, id := range order {
		n := root
		for _, b := range []byte(c.tokens[id]) {
			if last := len(n.children) - 1; last < 0 || n.children[last].label != b {
				n.children = append(n.children, edge{b, &node{id: -1}})
			}
			n = n.children[len(n.children)-1].to
		}
		n.id = id
	}
	return root
}

func collect(n *node, to []*node) []*node {
	if len(n.children) > 0 {
		to = append(to, n)
	}
	for _, e := range n.children {
		to = collect(e.to, to)
	}
	return to
}

// placement records which entries and which bases are taken.
type placement struct {
	based []bool
	// next and previous link the free entries, shifted by one, in a ring: 0 is the head. A taken one points to itself.
	next, previous []int
}

// grow adds a block of entries, as many as a node can have children.
func (p *placement) grow() {
	if p.previous == nil {
		p.previous = []int{0}
	}
	for range 256 {
		at, last := len(p.next), p.previous[0]
		p.based = append(p.based, false)
		p.next, p.previous = append(p.next, 0), append(p.previous, last)
		p.next[last], p.previous[0] = at, at
	}
}

func (p *placement) taken(slot int) bool { return p.next[slot+1] == slot+1 }

func (p *placement) take(slot int) {
	at := slot + 1
	before, after := p.previous[at], p.next[at]
	p.next[before], p.previous[after] = after, before
	p.next[at], p.previous[at] = at, at
}

// place takes the first base for which the entries of all edges are free.
func (p *placement) place(edges []edge) int {
	first := int(edges[0].label)
	occupied := func(base int) bool {
		return p.based[base] || slices.ContainsFunc(edges[1:],
			func(e edge) bool { return p.taken(base ^ int(e.label)) })
	}
	at := p.next[0]
	// Tries each free entry for the first edge; the base follows from it, and the others from the base.
	for at == 0 || occupied((at-1)^first) {
		if at == 0 || p.next[at] == 0 {
			at = len(p.next)
			p.grow()
			continue
		}
		at = p.next[at]
	}
	base := (at - 1) ^ first
	p.based[base] = true
	for _, e := range edges {
		p.take(base ^ int(e.label))
	}
	return base
}

// append24 appends the lower three bytes. All numbers in the format but the trie's are below 2^24.
func append24(b []byte, v uint32) []byte { return append(b, byte(v), byte(v>>8), byte(v>>16)) }
