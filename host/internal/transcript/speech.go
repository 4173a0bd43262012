package transcript

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
)

// speech assembles the entries of a recorder that writes less than a message per record: a call, a result, a piece of
// text. Consecutive pieces of the model are one entry, and so are consecutive results, as providers and strategies
// expect.
type speech struct {
	b    *builder
	ai   int // the position of the model's entry that is being added to; -1: the next piece begins one
	tool int // the same for the tool
}

func newSpeech(b *builder) speech { return speech{b: b, ai: -1, tool: -1} }

// say adds blocks of the model. meta is used if they begin an entry.
func (s *speech) say(line int, meta metadata, blocks ...content.Block) {
	s.tool = -1
	if s.ai >= 0 {
		s.b.extend(s.ai, blocks)
		return
	}
	s.ai = s.b.add(line, content.Content{Speaker: content.AI, Blocks: blocks, Metadata: meta.json()})
}

func (s *speech) answer(line int, meta metadata, blocks ...content.Block) {
	s.ai = -1
	if s.tool >= 0 {
		s.b.extend(s.tool, blocks)
		return
	}
	s.tool = s.b.add(line, content.Content{Speaker: content.Tool, Blocks: blocks, Metadata: meta.json()})
}

func (s *speech) ask(line int, meta metadata, blocks ...content.Block) {
	s.pause()
	s.b.add(line, content.Content{Speaker: content.Human, Blocks: blocks, Metadata: meta.json()})
}

func (s *speech) pause() { s.ai, s.tool = -1, -1 }

// end is for readers whose entries are complete after each record.
func (s *speech) end() error { return nil }

func stamped(timestamp []byte) (meta metadata) {
	meta.raw("timestamp", timestamp)
	return meta
}

func nameIn(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}
