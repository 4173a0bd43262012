package check

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// What the model did, and what its tools answered, may only lose parts. An edit of an entry of the AI or of a tool
// keeps its blocks, drops them, or puts in the place of one
//
//   - a block of its kind with less in fields that are [content.KindField.Cuttable], nothing else changed; of an error
//     something stays;
//   - a text block of nothing but marks, in place of what was removed.
//
// So a call is kept or dropped as it is. A block with a provider's proof is kept with its entry. A new entry of a
// Compress, which the host marks as made, holds no other calls and results than the history.

// less finds the first new block of an edited entry that is more than a part of what the entry had. It sets part.Of, and
// takes as kept what came again as it was.
func (p *problems) less(was []content.Block, part Part) {
	blocks := part.Content.Blocks
	stays := make([]bool, len(was))
	for _, k := range part.Kept {
		if k >= 0 {
			stays[k] = true
		}
	}
	for i, b := range was {
		if parts := content.Apart(b); parts.Proof() != "" && !stays[i] {
			p.add(wrong(part.Index, ErrSigned, "block %d of the entry as it was", i).
				quoted(describe(b), describe(blocks[min(i, len(blocks)-1)])))
			return
		}
	}
	of, lost := madeOf(was, part, func(int, int) bool { return true })
	if lost >= 0 {
		for i := lost; part.Kept[lost] >= 0; i-- { // the new block before a kept one that takes its place
			if part.Kept[i] < 0 && of[i] >= 0 {
				lost = i
			}
		}
		from := 0
		if lost > 0 {
			from = slices.Max(of[:lost]) + 1
		}
		p.add(wrong(part.Index, fault(was[from:], blocks[lost]), "block %d", lost).
			quoted(describe(was[from:]...), describe(blocks[lost])))
		return
	}
	copy(part.Of, of)
	for i, k := range of {
		if k >= 0 && content.Equal(was[k], blocks[i]) {
			part.Kept[i] = k
		}
	}
}

// madeOf finds what each block of an entry was: the first one, behind what the block before was, that it equals or, if
// it is new, is less of; -1 for nothing but marks. To take the first finds all if there is a way to. Which of equal
// blocks an answer names as kept does not matter: the SDK gets blocks, not positions. may says which block may be
// which. lost is the first block that is not found, -1 if there is none. It takes time proportional to both entries.
func madeOf(was []content.Block, part Part, may func(block, of int) bool) (of []int, lost int) {
	of = make([]int, len(part.Content.Blocks))
	next := 0
	for i, b := range part.Content.Blocks {
		fresh := part.Edited && part.Kept[i] < 0
		if of[i] = -1; fresh && onlyMarks(b) {
			continue
		}
		short := b
		for from := next; next < len(was); next++ {
			if fresh && next == from+1 { // it is compared with more than one
				short = fewMarks(b)
			}
			if may(i, next) && (fresh && Less(was[next], short) || !fresh && content.Equal(was[next], b)) {
				break
			}
		}
		if next == len(was) {
			return of, i
		}
		of[i] = next
		next++
	}
	return of, -1
}

func onlyMarks(b content.Block) bool {
	t, ok := b.(content.Text)
	return ok && len(t.Extra.All()) == 0 && isLessText("", t.Text)
}

// fewMarks returns a block with one mark for each run of them. It is less of the same blocks: marks match whatever these
// hold.
func fewMarks(b content.Block) content.Block {
	p := content.Apart(b)
	if p.Number == 0 {
		return b
	}
	for i, f := range p.Fields {
		switch value := p.Values[i]; {
		case !f.Cuttable():
		case !f.JSON():
			p.Values[i] = oneMark(value)
		case strings.HasPrefix(value, `"`):
			p.Values[i] = string(content.String(oneMark(p.Text(i))))
		}
	}
	return p.Block()
}

// Less reports whether a block is what may be left of another one, which has no proof.
func Less(old, b content.Block) bool {
	p, q := content.Apart(old), content.Apart(b)
	if p.Kind != q.Kind || p.Number == 0 || !p.Extra.Equal(q.Extra) {
		return false
	}
	for i, f := range p.Fields {
		was, is := p.Values[i], q.Values[i]
		text := !f.JSON() || strings.HasPrefix(is, `"`) // which JSON may become
		switch {
		case was == is:
		case !f.Cuttable(), f.Failure() && (was == "" || is == ""),
			text && !isLessText(p.Text(i), q.Text(i)), !text && !isLessJSON(p.JSON(i), q.JSON(i)):
			return false
		}
	}
	return true
}

func fault(was []content.Block, b content.Block) *Rule {
	switch b := b.(type) {
	case content.ToolCall:
		return ErrCallChanged
	case content.ToolResponse:
		for _, old := range was {
			if r, ok := old.(content.ToolResponse); ok && r.CallID == b.CallID && r.Failed() != b.Failed() {
				return ErrOutcomeChanged
			}
		}
		return ErrResultChanged
	}
	return ErrWordsAdded
}

// isLessJSON reports whether JSON kept its form, and its strings only lost lines.
func isLessJSON(was, is json.RawMessage) bool {
	old, now := content.Literals(was), content.Literals(is)
	if len(is) == 0 || len(old) != len(now) {
		return false // a model would be told that there was nothing
	}
	atOld, atNow := 0, 0
	for i := range old {
		if !bytes.Equal(was[atOld:old[i].From], is[atNow:now[i].From]) ||
			old[i].Text != now[i].Text && !isLessText(old[i].Text, now[i].Text) {
			return false
		}
		atOld, atNow = old[i].To, now[i].To
	}
	return bytes.Equal(was[atOld:], is[atNow:])
}

// madeUp finds new entries with calls or results that the history does not hold, or that stand elsewhere in the answer
// too: a summary is words, and a strategy cannot say what was done, nor that it was done twice.
func (p *problems) madeUp(history []content.Content, parts []Part) {
	ids := map[string]bool{} // of the calls and results in new entries
	for _, part := range parts {
		for _, b := range part.Content.Blocks {
			if id, ok := content.CallID(b); ok && part.Index < 0 {
				ids[id] = true
			}
		}
	}
	if len(ids) == 0 {
		return
	}
	left := map[string]int{} // how many blocks of the history that read alike are in no entry of the answer yet
	stood := map[string]int{}
	count := func(c content.Content, by, at int) {
		for _, b := range c.Blocks {
			if id, ok := content.CallID(b); ok && ids[id] {
				key := string(content.AppendBlock(nil, b))
				left[key] += by
				if by > 0 {
					stood[key] = at
				}
			}
		}
	}
	for i, c := range history {
		count(c, 1, i)
	}
	for _, part := range parts {
		if part.Index >= 0 {
			count(part.Content, -1, 0)
		}
	}
	for i, part := range parts {
		if part.Index >= 0 {
			continue
		}
		for j, b := range part.Content.Blocks {
			if _, ok := content.CallID(b); !ok {
				continue
			}
			key := string(content.AppendBlock(nil, b))
			if left[key]--; left[key] >= 0 {
				continue
			}
			e := wrong(i, fault(nil, b), "block %d", j)
			e.New = true
			if at, known := stood[key]; known {
				e.Index, e.New, e.Err = at, false, ErrTwice
			}
			p.add(e.quoted("", describe(b)))
		}
	}
}
