package explain

import (
	"crypto/sha256"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk/content"
)

// diffBlocks returns the blocks of two entries that differ. Calls and responses go together by their ids, others by their
// kind.
func (d *differ) diffBlocks(a, b []content.Block) []DiffBlock {
	same := align(blockKeys(a, blockKey), blockKeys(b, blockKey))
	var out []DiffBlock
	at := pair{}
	for _, p := range append(same, pair{len(a), len(b)}) {
		out = append(out, d.diffRun(a, b, at, p)...)
		at = pair{p.A + 1, p.B + 1}
	}
	return out
}

// diffRun compares the blocks between two pairs of blocks that are the same.
func (d *differ) diffRun(a, b []content.Block, from, to pair) []DiffBlock {
	var out []DiffBlock
	i, j := from.A, from.B
	for _, p := range append(align(blockKeys(a[from.A:to.A], kindKey), blockKeys(b[from.B:to.B], kindKey)), pair{to.A - from.A, to.B - from.B}) {
		p = pair{from.A + p.A, from.B + p.B}
		for ; i < p.A; i++ {
			out = append(out, DiffBlock{Op: OpRemoved, A: new(i), WhatA: d.describe(a[i])})
		}
		for ; j < p.B; j++ {
			out = append(out, DiffBlock{Op: OpAdded, B: new(j), WhatB: d.describe(b[j])})
		}
		if p.A < to.A {
			whatA, whatB := d.describeChanged(a[i], b[j])
			out = append(out, DiffBlock{Op: OpChanged, A: new(i), B: new(j), WhatA: whatA, WhatB: whatB})
		}
		i, j = p.A+1, p.B+1
	}
	return out
}

// describe says in a line what a block is. Of a response it does not say what its call was about: the entry says so.
func (d *differ) describe(b content.Block) string {
	return describeBlock(b, func() string {
		if call, ok := b.(content.ToolCall); ok {
			return d.taxonomy.Use(call.Name, call.Parameters).Subject
		}
		return ""
	})
}

func blockKeys(blocks []content.Block, key func(content.Block) string) []string {
	out := make([]string, len(blocks))
	for i, b := range blocks {
		out[i] = key(b)
	}
	return out
}

// blockKey is equal for blocks that say the same.
func blockKey(b content.Block) string {
	sum := sha256.Sum256(content.AppendBlock(nil, b))
	return string(sum[:])
}

func kindKey(b content.Block) string {
	switch b := b.(type) {
	case content.Text:
		return content.KindText
	case content.ToolCall:
		return content.KindToolCall + " " + b.ID
	case content.ToolResponse:
		return content.KindToolResponse + " " + b.CallID
	case content.Media:
		return content.KindMedia
	case content.Thinking:
		return content.KindThinking
	case content.Code:
		return content.KindCode
	}
	return ""
}

// shownBefore is how much of what two texts have in common is shown before what they do not, in bytes.
const shownBefore = 16

// describeChanged describes two blocks of one kind from where they differ.
func (d *differ) describeChanged(a, b content.Block) (whatA, whatB string) {
	switch a := a.(type) {
	case content.Text:
		if b, ok := b.(content.Text); ok {
			a.Text, b.Text = fromDifference(a.Text, b.Text)
			return d.describe(a), d.describe(b)
		}
	case content.ToolResponse:
		if b, ok := b.(content.ToolResponse); ok {
			textA, textB := fromDifference(a.ResultText(), b.ResultText())
			return d.describe(a.WithResultText(textA)), d.describe(b.WithResultText(textB))
		}
	case content.ToolCall:
		if b, ok := b.(content.ToolCall); ok {
			textA, textB := fromDifference(string(a.Parameters), string(b.Parameters))
			return tool(a.Name, clip(textA, longest)), tool(b.Name, clip(textB, longest))
		}
	}
	return d.describe(a), d.describe(b)
}

// fromDifference cuts off what two texts begin with alike, save for a little.
func fromDifference(a, b string) (string, string) {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	n -= min(n, shownBefore)
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	if strings.TrimSpace(a[:n]) == "" {
		return a, b
	}
	return "…" + a[n:], "…" + b[n:]
}
