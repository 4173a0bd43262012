package body

import "github.com/thresh-dev/thresh/sdk/content"

// minRecalled is from what size on, in bytes, a result gets an id where it was: one of a few lines is read again as
// cheaply by running its tool.
const minRecalled = 400

// Recallable reports whether a result gets an id where it was removed.
func Recallable(r content.ToolResponse) bool { return len(r.Result) >= minRecalled }

// MarkRecall puts a mark behind each text that stands for a result. mark makes it of the result as the client sent it,
// and of where it was: the same mark for the same result each time, so that the beginning of a request stays as it was
// sent.
func (p *Plan) MarkRecall(mark func(at Ref, was content.ToolResponse) string) {
	for i, f := range p.fates {
		if f.gone {
			continue
		}
		for j, text := range f.texts {
			was, ok := p.entries[i].Content.Blocks[j].(content.ToolResponse)
			if ok && Recallable(was) {
				f.texts[j] = text + mark(p.entries[i].Refs[j], was)
			}
		}
	}
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
