package transcript

import (
	"fmt"

	"github.com/thresh-dev/thresh/sdk/content"
)

// builder puts a transcript together.
type builder struct {
	t     Transcript
	names map[string]string // the tool that the latest call with an id called
	tally tally
}

func newBuilder() *builder { return &builder{names: map[string]string{}} }

// add appends an entry and returns its position.
func (b *builder) add(line int, c content.Content) int {
	b.learn(c.Blocks)
	b.t.Entries = append(b.t.Entries, c)
	b.t.Lines = append(b.t.Lines, line)
	return len(b.t.Entries) - 1
}

// extend appends blocks to an entry.
func (b *builder) extend(entry int, blocks []content.Block) {
	b.learn(blocks)
	b.t.Entries[entry].Blocks = append(b.t.Entries[entry].Blocks, blocks...)
}

// learn remembers which tool a call called, for formats whose results do not say.
func (b *builder) learn(blocks []content.Block) {
	for _, block := range blocks {
		if call, ok := block.(content.ToolCall); ok {
			b.names[call.ID] = call.Name
		}
	}
}

// name completes responses that do not say which tool they are from.
func (b *builder) name(blocks []content.Block) {
	for i, block := range blocks {
		if r, ok := block.(content.ToolResponse); ok && r.ToolName == "" {
			r.ToolName = b.names[r.CallID]
			blocks[i] = r
		}
	}
}

func (b *builder) boundary(kind string, meta []byte) {
	b.t.Boundaries = append(b.t.Boundaries, Boundary{Index: len(b.t.Entries), Kind: kind, Meta: meta})
}

func (b *builder) note(line, entry int, format string, args ...any) {
	b.t.Notes = append(b.t.Notes, Note{Line: line, Entry: entry, Message: fmt.Sprintf(format, args...)})
}

// finish looks for oddities in the history and returns the transcript.
func (b *builder) finish() *Transcript {
	for i, c := range b.t.Entries {
		b.inspect(i, c)
	}
	b.inspectPairs()
	b.t.Notes = append(b.t.Notes, b.tally.notes()...)
	return &b.t
}

// inspect notes what strategies will leave alone because it is not well-formed.
func (b *builder) inspect(i int, c content.Content) {
	line := b.t.Lines[i]
	if !c.Speaker.Known() {
		b.note(line, i, "unknown speaker %q; the entry is carried unchanged", clip([]byte(c.Speaker)))
	}
	if c.Blocks == nil {
		b.note(line, i, "the entry has no blocks; it is carried unchanged")
	}
	for j, block := range c.Blocks {
		o, ok := block.(content.Opaque)
		if !ok {
			continue
		}
		switch k := o.Kind(); k {
		case "":
			b.note(line, i, "block %d is %s, not a block; it is carried unchanged", j, clip(o.JSON))
		case content.KindText, content.KindToolCall, content.KindToolResponse, content.KindMedia, content.KindThinking, content.KindCode:
			b.note(line, i, "block %d of kind %q is malformed; it is carried unchanged", j, k)
		default:
			b.note(line, i, "block %d is of the unknown kind %q; it is carried unchanged", j, clip([]byte(k)))
		}
	}
}

// inspectPairs notes responses without a call and ids that repeat. A response answers the nearest preceding unanswered
// call with its id.
func (b *builder) inspectPairs() {
	open, seen := map[string]int{}, map[string]bool{}
	for i, c := range b.t.Entries {
		for j, block := range c.Blocks {
			switch block := block.(type) {
			case content.ToolCall:
				if seen[block.ID] {
					b.note(b.t.Lines[i], i, "block %d repeats the call id %q", j, clip([]byte(block.ID)))
				}
				seen[block.ID] = true
				open[block.ID]++
			case content.ToolResponse:
				if open[block.CallID] == 0 {
					b.note(b.t.Lines[i], i, "block %d answers the call %q, which is not open before it", j, clip([]byte(block.CallID)))
				} else {
					open[block.CallID]--
				}
			}
		}
	}
}
