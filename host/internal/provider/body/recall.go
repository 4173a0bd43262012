package body

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
)

// MarkBlanked puts a mark behind what stands for each result that had to stay although the view lacks it: all others have
// the view's marks. mark makes it of the result as the client sent it; the same mark each time, so that the beginning of
// a request stays as it was sent.
func (p *Plan) MarkBlanked(mark func(was content.ToolResponse) string) {
	for i, f := range p.fates {
		if f.gone {
			continue
		}
		for j, text := range f.texts {
			if was, ok := p.entries[i].Content.Blocks[j].(content.ToolResponse); ok && !shows(f.shown, was) {
				f.texts[j] = text + mark(was)
			}
		}
	}
}

// shows reports whether a view's entry, nil if the view has none, has a result.
func shows(c *content.Content, was content.ToolResponse) bool {
	return c != nil && slices.ContainsFunc(c.Blocks, func(b content.Block) bool {
		r, ok := b.(content.ToolResponse)
		return ok && r.CallID == was.CallID
	})
}

// Removed calls f for each block that is not sent as it came, by position: of an entry that goes, or that has a new text
// in its place.
func (p *Plan) Removed(f func(at Ref, was content.Block)) {
	for i, fate := range p.fates {
		for j, block := range p.entries[i].Content.Blocks {
			if _, changed := fate.texts[j]; changed || fate.gone {
				f(p.entries[i].Refs[j], block)
			}
		}
	}
}
