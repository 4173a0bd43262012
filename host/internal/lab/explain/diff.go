package explain

import (
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Op says how an entry or a block of one history relates to the other.
type Op string

// The ops.
const (
	OpSame    Op = "same"
	OpRemoved Op = "removed" // only in the first
	OpAdded   Op = "added"   // only in the second
	OpChanged Op = "changed"
)

// Difference is what two histories do not have in common. Counts are in tokens.
type Difference struct {
	// Equal: they say the same. Metadata, which no model sees, does not count.
	Equal bool `json:"equal"`
	// Same, Removed, Added and Changed count entries.
	Same    int `json:"same"`
	Removed int `json:"removed"`
	Added   int `json:"added"`
	Changed int `json:"changed"`
	// TokensA and TokensB are what the histories count.
	TokensA int `json:"tokensA"`
	TokensB int `json:"tokensB"`
	// Items are the entries of both in order; what was removed stands before what was added.
	Items []DiffItem `json:"items"`
}

// DiffItem is one entry of either history, or of both.
type DiffItem struct {
	Op Op `json:"op"`
	// A and B are the entry's positions in the first and in the second history, from 0; nil where it is not in it.
	A       *int            `json:"a,omitempty"`
	B       *int            `json:"b,omitempty"`
	Speaker content.Speaker `json:"speaker"`
	// What says in a line what the entry is, in the first history if it is in it.
	What    string `json:"what"`
	TokensA int    `json:"tokensA"`
	TokensB int    `json:"tokensB"`
	// Blocks are the blocks of a changed entry that differ, in order.
	Blocks []DiffBlock `json:"blocks,omitempty"`
}

// DiffBlock is one block of a changed entry that differs.
type DiffBlock struct {
	Op Op `json:"op"`
	// A and B are the block's positions in the entry, from 0; nil where it is not in it.
	A *int `json:"a,omitempty"`
	B *int `json:"b,omitempty"`
	// WhatA and WhatB say in a line what the block is.
	WhatA string `json:"whatA,omitempty"`
	WhatB string `json:"whatB,omitempty"`
}

// History is one side of a [Diff]: entries and what each counts, in tokens.
type History struct {
	Entries []content.Content
	Tokens  func(entry int) int
}

// Diff compares two histories. Entries with the same speaker and blocks are the same; those that share a call, their
// metadata, or the beginning or the end of their text, between two that are the same, are one that was changed.
func Diff(a, b History, taxonomy *tools.Taxonomy) Difference {
	d := &differ{
		a: a, b: b, taxonomy: taxonomy, whatA: Describe(a.Entries, taxonomy), whatB: Describe(b.Entries, taxonomy),
		keysA: keys(a.Entries, entryKey), keysB: keys(b.Entries, entryKey),
	}
	nextA, nextB := 0, 0
	for _, p := range append(d.match(), pair{len(a.Entries), len(b.Entries)}) {
		for ; nextA < p.A; nextA++ {
			d.removed(nextA)
		}
		for ; nextB < p.B; nextB++ {
			d.added(nextB)
		}
		if p.A < len(a.Entries) {
			d.both(p)
		}
		nextA, nextB = p.A+1, p.B+1
	}
	d.out.Equal = d.out.Removed+d.out.Added+d.out.Changed == 0
	return d.out
}

type differ struct {
	a, b         History
	taxonomy     *tools.Taxonomy
	whatA, whatB []string
	keysA, keysB []string // by [entryKey]
	out          Difference
}

func (d *differ) removed(i int) {
	item := DiffItem{Op: OpRemoved, A: &i, Speaker: d.a.Entries[i].Speaker, What: d.whatA[i], TokensA: d.a.Tokens(i)}
	d.out.Removed++
	d.add(item)
}

func (d *differ) added(i int) {
	item := DiffItem{Op: OpAdded, B: &i, Speaker: d.b.Entries[i].Speaker, What: d.whatB[i], TokensB: d.b.Tokens(i)}
	d.out.Added++
	d.add(item)
}

func (d *differ) both(p pair) {
	item := DiffItem{
		Op: OpSame, A: &p.A, B: &p.B, Speaker: d.a.Entries[p.A].Speaker, What: d.whatA[p.A],
		TokensA: d.a.Tokens(p.A), TokensB: d.b.Tokens(p.B),
	}
	if d.keysA[p.A] == d.keysB[p.B] {
		d.out.Same++
	} else {
		item.Op = OpChanged
		item.Blocks = d.diffBlocks(d.a.Entries[p.A].Blocks, d.b.Entries[p.B].Blocks)
		d.out.Changed++
	}
	d.add(item)
}

func (d *differ) add(item DiffItem) {
	d.out.TokensA += item.TokensA
	d.out.TokensB += item.TokensB
	d.out.Items = append(d.out.Items, item)
}
