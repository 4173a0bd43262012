package transcript

import (
	"bytes"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/chat"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/host/internal/provider/responses"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// messageContent reads the content of a message. Null is no content, which some recorders write for a message that has
// only calls; any other type, such as a number, becomes an opaque block with a note.
func (b *builder) messageContent(line int, raw []byte) messages.Pieces {
	p, ok := messages.Read(raw, blocksOf)
	if !ok && !rawjson.IsNull(raw) {
		b.oddity(
			line, -1, "message content that is neither text nor a list",
			"message content is %s, neither text nor a list; it is carried unchanged", ordered.Clip(raw),
		)
		p.Add(false, content.Opaque{JSON: bytes.Clone(raw)})
	}
	return p
}

// blocksOf reads one part of Anthropic or OpenAI, since recorders mix them in one file. It returns at least one block. A
// part that lacks a required field or has an unknown type is carried unchanged.
func blocksOf(raw []byte) []content.Block {
	o := ordered.Of(raw)
	// Anthropic's types are the more specific ones.
	if blocks := anthropic.Messages.Blocks(o); blocks != nil {
		return blocks
	}
	// A file that Cline included next to the text that mentions it. The model saw it as text of this form.
	if text, ok := rawjson.Text(o.Raw("content")); ok && o.Text("type") == "file" {
		return messages.One(content.Text{Text: "<file path=\"" + o.Text("path") + "\">\n" + text + "\n</file>"})
	}
	if m, ok := media(o); ok {
		return messages.One(m)
	}
	if blocks := responses.Messages.Blocks(o); blocks != nil {
		// These describe the text for the screen.
		if text, ok := blocks[0].(content.Text); ok {
			text.Extra = messages.Without(text.Extra, "annotations", "logprobs")
			blocks[0] = text
		}
		return blocks
	}
	return messages.One(content.Opaque{JSON: bytes.Clone(raw)})
}

// media reads an attachment as either of OpenAI's APIs has it; ok is false if there is none.
func media(o ordered.Object) (content.Media, bool) {
	if m, ok := chat.Media(o); ok {
		return m, true
	}
	return responses.Media(o)
}

// calls reads the tool calls of an answer in OpenAI's form.
func (b *builder) calls(line int, raw []byte) []content.Block {
	var blocks []content.Block
	list, _ := ordered.Elements(raw)
	for _, raw := range list {
		block, ok := chat.Call(raw)
		if !ok {
			b.oddity(line, len(b.Entries), "call whose arguments are not JSON",
				"the arguments of the call %q are not JSON; they are kept as text",
				ordered.Clip([]byte(ordered.Of(raw).Text("id"))))
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// madeID returns an id for a call without one; n counts them.
func madeID(n *int) string {
	*n++
	return fmt.Sprintf("call_%d", *n)
}
