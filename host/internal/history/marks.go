package history

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk/content"
)

// The way back to a result that was shortened, and to an answer that a mark stands for. Only the view has the marks: no
// strategy sees them, and what a strategy writes is never taken for one.

// Sum identifies what a block says. The zero value is no block.
type Sum [16]byte

// SumOf returns the sum of a block; the zero value for a kind that is not given back.
func SumOf(b content.Block) (sum Sum) {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s ", b.Kind())
	switch b := b.(type) {
	case content.Text:
		_, _ = h.Write([]byte(b.Text))
	case content.Code:
		_, _ = h.Write([]byte(b.Code))
	case content.ToolCall:
		_, _ = fmt.Fprintf(h, "%q %q ", b.ID, b.Name)
		_, _ = h.Write(b.Parameters)
	case content.ToolResponse:
		_, _ = fmt.Fprintf(h, "%q ", b.CallID)
		_, _ = h.Write(b.Result)
	default:
		return Sum{}
	}
	return Sum(h.Sum(nil))
}

// minMarked is from what size on, in bytes, a result gets a mark: one of a few lines is read again as cheaply by running
// its tool.
const minMarked = 400

// Markable reports whether a result gets a mark where it was shortened.
func Markable(r content.ToolResponse) bool { return len(r.Result) >= minMarked }

// Marker makes the marks of a conversation whose model can ask for what was removed. nil makes none.
type Marker struct {
	// Name tells markers of a session apart, and [View.Marks] has it.
	Name string
	// Mark returns what stands behind a result that was shortened, by the sum of what it was, or behind a line for
	// several.
	Mark func(was ...Sum) string
	// Seal returns what stands beside the id of a part that was read again.
	Seal func(id string) string
}

// Of returns the mark for a result that does not stand where it was; "" for one that is too small.
func (m *Marker) Of(was content.ToolResponse) string {
	if !Markable(was) {
		return ""
	}
	return m.Mark(SumOf(was))
}

func (m *Marker) name() string {
	if m == nil {
		return ""
	}
	return m.Name
}

// was returns [Entry.Was] of an entry that a rewrite makes of another one. The rewrite says which block a new one is
// less of; of one that was shortened before, what it was first counts.
func was(old *Entry, part check.Part) []Sum {
	var sums []Sum
	for i, b := range part.Content.Blocks {
		r, ok := b.(content.ToolResponse)
		from := part.Kept[i]
		if from < 0 && len(part.Of) > 0 {
			from = part.Of[i]
		}
		if !ok || from < 0 {
			continue
		}
		var sum Sum
		if old.Was != nil {
			sum = old.Was[from]
		}
		if before, is := old.Content.Blocks[from].(content.ToolResponse); is && sum == (Sum{}) && part.Kept[i] < 0 &&
			Markable(before) {
			sum = SumOf(before)
		}
		if sum == (Sum{}) || sum == SumOf(r) { // it is as it was
			continue
		}
		if sums == nil {
			sums = make([]Sum, len(part.Content.Blocks))
		}
		sums[i] = sum
	}
	return sums
}

// answers returns [Entry.Was] of a mark for a gap, if all that was said in it is one text of the model.
func answers(of check.Gap, gone ...*Entry) []Sum {
	if of != (check.Gap{AI: 1}) {
		return nil
	}
	var sums []Sum
	for _, e := range gone {
		for _, b := range e.Content.Blocks {
			if t, ok := b.(content.Text); ok && e.Content.Speaker == content.AI && len(t.Text) >= minMarked {
				sums = append(sums, SumOf(t))
			}
		}
	}
	if len(sums) != 1 {
		return nil // one id would name one of them
	}
	return sums
}

// maxStands bounds the ids behind a line for calls: six tokens each.
const maxStands = 8

// stands returns [Entry.Stands] of a line for calls, by what is gone in its place.
func stands(gone []*Entry) (sums []Sum) {
	for _, e := range gone {
		sums = append(sums, e.Stands...)
		for i, b := range e.Content.Blocks {
			r, ok := b.(content.ToolResponse)
			switch {
			case ok && e.Was != nil && e.Was[i] != Sum{}:
				sums = append(sums, e.Was[i])
			case ok && Markable(r):
				sums = append(sums, SumOf(r))
			}
		}
	}
	return sums[max(0, len(sums)-maxStands):]
}

// between returns the entries that are gone where a part was added.
func between(old []*Entry, parts []check.Part, added int) []*Entry {
	from, to := 0, len(old)
	for i := added - 1; i >= 0; i-- {
		if parts[i].Index >= 0 {
			from = parts[i].Index + 1
			break
		}
	}
	for i := added + 1; i < len(parts); i++ {
		if parts[i].Index >= 0 {
			to = parts[i].Index
			break
		}
	}
	return old[from:max(from, to)]
}

// marked returns an entry as a view has it: itself, if it has its marks already.
func (b *viewBuilder) marked(e *Entry) *Entry {
	if b.marker == nil || e.Was == nil && e.Stands == nil || e.Unmarked != nil {
		return e
	}
	shown := *e
	shown.Content.Blocks, shown.Unmarked = slices.Clone(e.Content.Blocks), e
	mark := func(i int, of ...Sum) {
		was := e.Content.Blocks[i]
		now := was
		switch r := was.(type) {
		case content.ToolResponse:
			now = r.WithResultText(r.ResultText() + b.marker.Mark(of...))
		case content.Text:
			r.Text += b.marker.Mark(of...)
			now = r
		}
		alone := func(r content.Block) int {
			return b.count(content.Content{Speaker: e.Content.Speaker, Blocks: []content.Block{r}})
		}
		shown.Content.Blocks[i], shown.Tokens = now, shown.Tokens+alone(now)-alone(was)
	}
	for i, sum := range e.Was {
		if sum != (Sum{}) {
			mark(i, sum)
		}
	}
	if e.Stands != nil {
		mark(len(e.Content.Blocks)-1, e.Stands...)
	}
	return &shown
}
