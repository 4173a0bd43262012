package messages

import (
	"encoding/json"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Speech assembles the entries of a form that has less than a message per record: a call, a result, a piece of text.
// Consecutive pieces of the model are one entry, and so are consecutive results, as providers and strategies expect.
type Speech struct {
	*Builder
	AI   int // the position of the model's entry that is being added to; -1: the next piece begins one
	tool int // the same for the tool
}

// NewSpeech returns a speech that adds to b.
func NewSpeech(b *Builder) Speech { return Speech{Builder: b, AI: -1, tool: -1} }

// Say adds blocks of the model. meta is used if they begin an entry.
func (s *Speech) Say(line int, meta json.RawMessage, blocks ...content.Block) {
	s.tool = -1
	if s.AI >= 0 {
		s.Extend(s.AI, blocks)
		return
	}
	s.AI = s.Add(line, content.Content{Speaker: content.AI, Blocks: blocks, Metadata: meta})
}

// Answer adds a response and its attachments, as Say does.
func (s *Speech) Answer(line int, meta json.RawMessage, blocks ...content.Block) {
	s.AI = -1
	if s.tool >= 0 {
		s.Extend(s.tool, blocks)
		return
	}
	s.tool = s.Add(line, content.Content{Speaker: content.Tool, Blocks: blocks, Metadata: meta})
}

// Ask adds an entry of a person.
func (s *Speech) Ask(line int, meta json.RawMessage, blocks ...content.Block) {
	s.Pause()
	s.Add(line, content.Content{Speaker: content.Human, Blocks: blocks, Metadata: meta})
}

// Pause ends the entries at hand.
func (s *Speech) Pause() { s.AI, s.tool = -1, -1 }
