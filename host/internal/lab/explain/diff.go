package explain

import (
	"strings"

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

// Difference is what two histories do not have in common. Same, Removed, Added and Changed count entries; TokensA and
// TokensB are what the histories count. Metadata is not compared, as no model sees it.
type Difference struct {
	Equal   bool `json:"equal"`
	Same    int  `json:"same"`
	Removed int  `json:"removed"`
	Added   int  `json:"added"`
	Changed int  `json:"changed"`
	TokensA int  `json:"tokensA"`
	TokensB int  `json:"tokensB"`
	// Items are the entries of both in order; what was removed comes before what was added.
	Items []DiffItem `json:"items"`
}

// DiffItem is one entry of either history, or of both. A and B are its positions in them, from 0; nil where it is
// missing. What describes it in one line, and Blocks are the blocks of a changed entry that differ.
type DiffItem struct {
	Op      Op              `json:"op"`
	A       *int            `json:"a,omitempty"`
	B       *int            `json:"b,omitempty"`
	Speaker content.Speaker `json:"speaker"`
	What    string          `json:"what"`
	TokensA int             `json:"tokensA"`
	TokensB int             `json:"tokensB"`
	Blocks  []DiffBlock     `json:"blocks,omitempty"`
}

// DiffBlock is one block of a changed entry that differs, with its positions in the entry and descriptions in one line.
type DiffBlock struct {
	Op    Op     `json:"op"`
	A     *int   `json:"a,omitempty"`
	B     *int   `json:"b,omitempty"`
	WhatA string `json:"whatA,omitempty"`
	WhatB string `json:"whatB,omitempty"`
}

// History is one side of a [Diff]: entries and what each counts, in tokens.
type History struct {
	Entries []content.Content
	Tokens  func(entry int) int
}

// Diff compares two histories. Entries with the same speaker and blocks are the same. Between those, entries that share
// their first call, their metadata or the beginning of their text are one that was changed.
func Diff(a, b History, taxonomy *tools.Taxonomy) (d Difference) {
	whatA, whatB := Describe(a.Entries, taxonomy), Describe(b.Entries, taxonomy)
	pairs := matched(a.Entries, b.Entries, said, firstCall, metadata, begins(48), begins(6))
	inOrder(pairs, len(a.Entries), len(b.Entries), func(op Op, i, j *int) {
		item := DiffItem{Op: op, A: i, B: j}
		if j != nil {
			item.Speaker, item.What, item.TokensB = b.Entries[*j].Speaker, whatB[*j], b.Tokens(*j)
		}
		if i != nil {
			item.Speaker, item.What, item.TokensA = a.Entries[*i].Speaker, whatA[*i], a.Tokens(*i)
		}
		if op == OpChanged && said(a.Entries[*i]) == said(b.Entries[*j]) {
			item.Op = OpSame
		} else if op == OpChanged {
			item.Blocks = diffBlocks(a.Entries[*i].Blocks, b.Entries[*j].Blocks, taxonomy)
		}
		*map[Op]*int{OpSame: &d.Same, OpRemoved: &d.Removed, OpAdded: &d.Added, OpChanged: &d.Changed}[item.Op]++
		d.TokensA, d.TokensB = d.TokensA+item.TokensA, d.TokensB+item.TokensB
		d.Items = append(d.Items, item)
	})
	d.Equal = d.Removed+d.Added+d.Changed == 0
	return d
}

// inOrder tells of two sequences that have pairs in common: of each pair as changed, of the rest as removed or added.
func inOrder(pairs []pair, lenA, lenB int, tell func(op Op, a, b *int)) {
	i, j := 0, 0
	for _, p := range append(pairs, pair{lenA, lenB}) {
		for ; i < p.A; i++ {
			tell(OpRemoved, new(i), nil)
		}
		for ; j < p.B; j++ {
			tell(OpAdded, nil, new(j))
		}
		if p.A < lenA {
			tell(OpChanged, new(p.A), new(p.B))
		}
		i, j = p.A+1, p.B+1
	}
}

// diffBlocks returns the blocks of two entries that differ. Calls and responses are paired by their ids, others by
// kind.
func diffBlocks(a, b []content.Block, taxonomy *tools.Taxonomy) (out []DiffBlock) {
	same := func(b content.Block) string { return string(content.AppendBlock(nil, b)) }
	inOrder(matched(a, b, same, kindAndID), len(a), len(b), func(op Op, i, j *int) {
		block := DiffBlock{Op: op, A: i, B: j}
		switch {
		case i == nil:
			block.WhatB = describeAlone(b[*j], taxonomy)
		case j == nil:
			block.WhatA = describeAlone(a[*i], taxonomy)
		case same(a[*i]) == same(b[*j]):
			return
		default:
			x, y := fromDifference(a[*i], b[*j])
			block.WhatA, block.WhatB = describeAlone(x, taxonomy), describeAlone(y, taxonomy)
		}
		out = append(out, block)
	})
	return out
}

// shownBefore is how much of what two texts begin with alike is shown before their first difference, in bytes.
const shownBefore = 16

// fromDifference cuts off most of what two texts begin with alike, so that a description of them shows the difference.
func fromDifference(a, b content.Block) (content.Block, content.Block) {
	x, okA := a.(content.Text)
	y, okB := b.(content.Text)
	n := commonPrefix(x.Text, y.Text) - shownBefore
	if !okA || !okB || n <= 0 || strings.TrimSpace(x.Text[:n]) == "" {
		return a, b
	}
	return content.Text{Text: "…" + x.Text[n:]}, content.Text{Text: "…" + y.Text[n:]}
}

func describeAlone(b content.Block, taxonomy *tools.Taxonomy) string {
	return Describe([]content.Content{{Blocks: []content.Block{b}}}, taxonomy)[0]
}

func commonPrefix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
