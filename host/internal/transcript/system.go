package transcript

import (
	"cmp"
	"encoding/json"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// fieldRole is the field of a system block that begins a separate message, with its role. It is absent in the first
// block of an ordinary system prompt, so a prompt of one text has no fields at all.
const fieldRole = "role"

func isInstruction(role string) bool { return role == roleSystem || role == roleDeveloper }

// instructions takes a message into the system prompt and reports whether it did. It does so for text of the system or
// the developer before all other messages: later ones have a place in the conversation. extra are the message's fields,
// which travel in its first block.
func (b *builder) instructions(role string, blocks []content.Block, extra content.Fields) bool {
	if !isInstruction(role) || b.begun || len(b.t.Entries) > 0 || len(blocks) == 0 || !onlyText(blocks) {
		return false
	}
	first := blocks[0].(content.Text)
	// In the Responses API, the first block may be the "instructions", which are no message.
	if role != roleSystem || len(b.t.System) > 0 || b.form == OpenAIResponses {
		first.Extra = first.Extra.With(content.Field{Name: fieldRole, Value: content.String(role)})
	}
	first.Extra = first.Extra.With(extra.All()...)
	b.t.System = append(append(b.t.System, first), blocks[1:]...)
	return true
}

func (b *builder) isInstructions(blocks []content.Block) bool {
	// By text alone: fields of a block may differ between two requests.
	known := map[string]bool{}
	for _, block := range b.t.System {
		known[block.(content.Text).Text] = true
	}
	for _, block := range blocks {
		if text, ok := block.(content.Text); !ok || !known[text.Text] {
			return false
		}
	}
	return true
}

// onlyText reports whether all blocks are texts; true for none.
func onlyText(blocks []content.Block) bool {
	for _, block := range blocks {
		if _, ok := block.(content.Text); !ok {
			return false
		}
	}
	return true
}

// systemBlocks reads a system prompt that is not a message: a string, or a list of text blocks. It leaves out other
// blocks with a note, because no provider takes them there.
func (b *builder) systemBlocks(line int, raw []byte) []content.Block {
	var out []content.Block
	for _, block := range b.messageContent(line, raw).blocks {
		if _, ok := block.(content.Text); !ok {
			b.oddity(line, -1, "system block that is no text",
				"a system block of the kind %q is no text and was left out", clip([]byte(block.Kind())))
			continue
		}
		out = append(out, block)
	}
	return out
}

// nativeSystem reads the field "system" of a native document: an array of text blocks, or one string. Anything else is
// an error.
func (b *builder) nativeSystem(d *document) error {
	f := d.top.field("system")
	if rawjson.IsNull(f.value) {
		return nil
	}
	if b.setSystem(f.value) {
		return nil
	}
	return &Error{Line: d.lineAt(f.at), Offset: d.offset + int64(f.at), Entry: -1, Reason: ErrMalformed,
		Detail: noSystem(f.value)}
}

func (b *builder) setSystem(raw []byte) bool {
	if text, ok := rawjson.Text(raw); ok {
		b.t.System = one(content.Text{Text: text})
		return true
	}
	list, ok := elements(raw)
	if !ok {
		return false
	}
	var blocks []content.Block
	for _, raw := range list {
		block := content.ParseBlock(raw)
		if _, text := block.(content.Text); !text {
			return false
		}
		blocks = append(blocks, block)
	}
	b.t.System = blocks
	return true
}

func noSystem(raw []byte) string {
	return "system is " + clip(raw) + ", neither text nor a list of text blocks"
}

func isSystemLine(o object) bool { return len(o) == 1 && o[0].name == "system" }

// SystemJSON returns a system prompt as a native document has it in "system"; nil if there is none.
func SystemJSON(system []content.Block) json.RawMessage {
	if len(system) == 0 {
		return nil
	}
	list := []byte{'['}
	for i, b := range system {
		if i > 0 {
			list = append(list, ',')
		}
		list = content.AppendBlock(list, b)
	}
	return append(list, ']')
}

type systemMessage struct {
	role   string
	blocks []content.Text
}

// systemMessages returns the messages that a system prompt was made of. A block with a role begins one.
func systemMessages(system []content.Block) []systemMessage {
	var out []systemMessage
	for _, block := range system {
		text, ok := block.(content.Text)
		if !ok {
			continue // only text gets here
		}
		role, _ := rawjson.Text(text.Extra.Get(fieldRole))
		if role != "" || len(out) == 0 {
			out = append(out, systemMessage{role: cmp.Or(role, roleSystem)})
		}
		m := &out[len(out)-1]
		m.blocks = append(m.blocks, text)
	}
	return out
}
