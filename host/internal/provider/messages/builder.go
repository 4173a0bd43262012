package messages

import (
	"encoding/json"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Builder assembles entries. It is used by one goroutine.
type Builder struct {
	// API is the form in which an agent adds messages; nil for recordings. What such a message holds is sent back to the
	// provider, so nothing is dropped, joined or renamed that could not be restored.
	API     *API
	System  []content.Block
	Entries []content.Content
	// Lines holds where each entry begins: the line in a file, or the position of the message.
	Lines []int
	// Unnamed leaves responses without a tool name as they are: a native file is read back byte for byte.
	Unnamed bool

	begun  bool                   // messages were added before: instructions are no longer at the beginning
	called func(id string) string // names the tool of a call that was added before; nil if there is none
	// match pairs while entries are added, without a second walk.
	match turns.Matcher
	names map[string]string // the tool that the latest call with an id called
	// extended are the fields of the entry that was extended last, with room for more.
	extended struct {
		entry  int
		fields []content.Field
	}
}

// Add appends an entry and returns its position. line is where the entry begins. Entries and Lines must have the same
// length, so all entries are added here.
func (b *Builder) Add(line int, c content.Content) int {
	b.Entries = append(b.Entries, c)
	b.Lines = append(b.Lines, line)
	entry := len(b.Entries) - 1
	b.pair(entry, 0)
	return entry
}

// Extend appends blocks and fields to an entry.
func (b *Builder) Extend(entry int, blocks []content.Block, extra ...content.Field) {
	from := len(b.Entries[entry].Blocks)
	b.Entries[entry].Blocks = append(b.Entries[entry].Blocks, blocks...)
	b.pair(entry, from)
	if len(extra) == 0 {
		return
	}
	// Collected, because With would copy all fields of the entry for each message.
	if b.extended.entry != entry || b.extended.fields == nil {
		b.extended.entry, b.extended.fields = entry, slices.Clone(b.Entries[entry].Extra.All())
	}
	b.extended.fields = append(b.extended.fields, extra...)
	b.Entries[entry].Extra = content.FieldsOf(b.extended.fields...)
}

// pair registers the calls and responses of an entry from block from on. It completes responses that do not name their
// tool, because strategies classify results by it: with the name of the call that they answer, or of the latest call
// with their id if that call is answered already. Models repeat ids, so position decides before id.
func (b *Builder) pair(entry, from int) {
	c := b.Entries[entry]
	for j := from; j < len(c.Blocks); j++ {
		switch block := c.Blocks[j].(type) {
		case content.ToolCall:
			// Of every speaker, even an unknown one: a name is better than none.
			if b.names == nil {
				b.names = map[string]string{}
			}
			b.names[block.ID] = block.Name
			if c.Speaker == content.AI {
				b.match.Call(block.ID, block.Name, turns.At{Entry: entry, Block: j})
			}
		case content.ToolResponse:
			// A response of another speaker answers nothing.
			if c.Speaker != content.Tool {
				continue
			}
			at, ok := b.match.Response(block.CallID, block.ToolName)
			if block.ToolName != "" || b.Unnamed {
				continue
			}
			switch block.ToolName = b.names[block.CallID]; {
			case ok:
				block.ToolName = b.Entries[at.Entry].Blocks[at.Block].(content.ToolCall).Name
			case block.ToolName == "" && b.called != nil:
				block.ToolName = b.called(block.CallID)
			}
			c.Blocks[j] = block
		}
	}
}

// Instructions takes a message into the system prompt and reports whether it did. It does so for text of the system or
// the developer before all other messages: later ones have a place in the conversation. extra are the message's fields,
// which travel in its first block.
func (b *Builder) Instructions(role string, blocks []content.Block, extra content.Fields) bool {
	if !Instruction(role) || b.begun || len(b.Entries) > 0 || len(blocks) == 0 || !OnlyText(blocks) {
		return false
	}
	first := blocks[0].(content.Text)
	// In the Responses API, the first block may be the "instructions", which are no message.
	if role != System || len(b.System) > 0 || b.API != nil && b.API.Form.Flat {
		first.Extra = first.Extra.With(content.Field{Name: FieldRole, Value: content.String(role)})
	}
	first.Extra = first.Extra.With(extra.All()...)
	b.System = append(append(b.System, first), blocks[1:]...)
	return true
}

// OnlyText reports whether all blocks are texts; true for none.
func OnlyText(blocks []content.Block) bool {
	return !slices.ContainsFunc(blocks, func(b content.Block) bool { return b.Kind() != content.KindText })
}

// Meta returns the metadata of an entry that an agent adds. Instructions in the middle are pinned: an agent put them
// there on purpose, and a strategy must not remove them.
func (b *Builder) Meta(role string) json.RawMessage {
	var meta ordered.Builder
	if Instruction(role) {
		meta.Text(FieldRole, role)
		meta.Flag("pinned", true)
	}
	meta.Text(FieldFormat, b.API.Name)
	return meta.JSON()
}

// Pieces are the blocks of one message. OfTool says for each whether it belongs to a tool's answer: media of a result do,
// a person's do not, and the block alone does not tell.
type Pieces struct {
	Blocks []content.Block
	OfTool []bool
}

// Add appends blocks.
func (p *Pieces) Add(ofTool bool, blocks ...content.Block) {
	for _, b := range blocks {
		p.Blocks = append(p.Blocks, b)
		p.OfTool = append(p.OfTool, ofTool)
	}
}

// UserEntries adds the entries of a user message. Anthropic has no tool role: results are blocks of a user message,
// possibly mixed with text. Strategies treat what a person said differently from tool output, so each run of results
// becomes one entry of the tool, each run of other blocks one of the human. like provides metadata and extra fields for
// all of them. A message without blocks still becomes one entry.
func (b *Builder) UserEntries(line int, p Pieces, like content.Content) {
	for start := 0; start == 0 || start < len(p.Blocks); {
		c := like
		c.Speaker = content.Human
		end := start
		for end < len(p.Blocks) && p.OfTool[end] == p.OfTool[start] {
			end++
		}
		if start < end && p.OfTool[start] {
			c.Speaker = content.Tool
		}
		// Capped: a later extend of this entry does not overwrite the next entry's blocks.
		c.Blocks = p.Blocks[start:end:end]
		b.Add(line, c)
		start = max(end, 1)
	}
}
