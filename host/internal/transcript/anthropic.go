package transcript

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// flaggedError is the error of a response that only has a flag (is_error): an entry marks a failed response by a
// non-empty error, and what went wrong is in the result.
const flaggedError = "the tool reported an error"

// pieces are the blocks of one provider message. ofTool says for each whether it belongs to a tool's answer: media of a
// result do, a person's do not, and the block alone does not tell.
type pieces struct {
	blocks []content.Block
	ofTool []bool
}

func (p *pieces) add(ofTool bool, blocks ...content.Block) {
	for _, b := range blocks {
		p.blocks = append(p.blocks, b)
		p.ofTool = append(p.ofTool, ofTool)
	}
}

// messageContent reads the content of a provider's message: a string, or blocks of any provider. The blocks are never
// nil, which would mean an entry without blocks. Content of another type, such as a number, becomes an opaque block
// with a note.
func (b *builder) messageContent(line int, raw []byte) pieces {
	p := pieces{blocks: []content.Block{}}
	if text, ok := rawjson.Text(raw); ok {
		p.add(false, content.Text{Text: text})
		return p
	}
	// Null is no content, which some recorders write for a message that has only calls.
	list, ok := elements(raw)
	if !ok && !rawjson.IsNull(raw) {
		b.oddity(
			line, -1, "message content that is neither text nor a list",
			"message content is %s, neither text nor a list; it is carried unchanged", clip(raw),
		)
		p.add(false, content.Opaque{JSON: bytes.Clone(raw)})
	}
	for _, raw := range list {
		blocks := b.exactBlock(raw, anthropicBlock(raw))
		_, isResponse := blocks[0].(content.ToolResponse)
		p.add(isResponse, blocks...)
	}
	return p
}

// anthropicBlock reads one block of Anthropic or OpenAI, since recorders mix them in one file. It returns at least one
// block: a tool result with images becomes a response followed by the images. A block that lacks a required field or
// has an unknown type is carried unchanged.
func anthropicBlock(raw []byte) []content.Block {
	o := asObject(raw)
	switch o.text("type") {
	// A case without its required field falls through to the end of the function.
	case "text":
		if text, ok := rawjson.Text(o.raw("text")); ok {
			return one(content.Text{Text: text, Extra: o.without("type", "text")})
		}
	case "thinking":
		if thought, ok := rawjson.Text(o.raw("thinking")); ok {
			return one(content.Thinking{
				Thought: thought, Signature: o.text("signature"), Extra: o.without("type", "thinking", "signature"),
			})
		}
	case "tool_use":
		if id, ok := rawjson.Text(o.raw("id")); ok {
			return one(content.ToolCall{
				ID: id, Name: o.text("name"), Parameters: o.copyOf("input"),
				Extra: o.without("type", "id", "name", "input"),
			})
		}
	case "tool_result":
		if id, ok := rawjson.Text(o.raw("tool_use_id")); ok {
			return anthropicResult(id, o)
		}
	case "image", "document":
		if media, ok := anthropicMedia(o); ok {
			return one(media)
		}
	case "file":
		// A file that Cline included next to the text that mentions it. The model saw it as text of this form.
		if text, ok := rawjson.Text(o.raw("content")); ok {
			return one(content.Text{Text: "<file path=\"" + o.text("path") + "\">\n" + text + "\n</file>"})
		}
	}
	// Last, since Anthropic's types are the more specific ones.
	if block, ok := openAIPart(o); ok {
		return one(block)
	}
	return one(content.Opaque{JSON: bytes.Clone(raw)})
}

func one(b content.Block) []content.Block { return []content.Block{b} }

// anthropicResult reads the result of the call id. Some recorders add the tool's name, which the API does not have.
func anthropicResult(id string, o object) []content.Block {
	r := content.ToolResponse{
		CallID: id, ToolName: o.text("name"), Extra: o.without("type", "tool_use_id", "content", "is_error", "name"),
	}
	if o.isTrue("is_error") {
		r.Error = flaggedError
	}
	return withResult(r, o.raw("content"), anthropicMedia)
}

// withResult completes a response with its result, and returns it with its attachments.
func withResult(r content.ToolResponse, raw []byte, readMedia func(object) (content.Media, bool)) []content.Block {
	result, media := resultOf(raw, readMedia)
	r.Result = result
	return append(one(r), media...)
}

// resultOf reads a tool's result. Text parts are joined with newlines; images and documents become media. A list with
// anything else in it is the tool's own JSON and is kept: joining it would change what the model saw. readMedia is the
// provider's reader of media parts.
func resultOf(
	raw []byte,
	readMedia func(object) (content.Media, bool),
) (result json.RawMessage, media []content.Block) {
	list, ok := elements(raw)
	if !ok {
		return bytes.Clone(raw), nil
	}
	var texts []string
	for _, part := range list {
		o := asObject(part)
		if text, ok := rawjson.Text(o.raw("text")); ok && isText(o.text("type")) {
			// Fields of the parts, such as citations, are lost here. An agent's own messages also go through
			// [exactResult].
			texts = append(texts, text)
			continue
		}
		m, ok := readMedia(o)
		if !ok {
			return bytes.Clone(raw), nil
		}
		media = append(media, m)
	}
	return content.String(strings.Join(texts, "\n")), media
}

// isText reports whether parts of a type are texts; Codex records those of the Responses API.
func isText(t string) bool { return t == "text" || t == "input_text" || t == "output_text" }

// anthropicMedia reads an image or a document; ok is false if there is no data. The API allows a URL without a MIME
// type, which token counting and other providers need: it is guessed from the block's type.
func anthropicMedia(o object) (content.Media, bool) {
	source := o.object("source")
	m := content.Media{
		MimeType: source.text("media_type"), Filename: o.text("title"), Extra: o.without("type", "source", "title"),
	}
	switch source.text("type") {
	case "base64":
		m.Data, m.Encoding = source.text("data"), "base64"
	case "url":
		m.Data, m.Encoding = source.text("url"), "url"
		if m.MimeType == "" {
			m.MimeType = map[string]string{"image": "image/*", "document": "application/pdf"}[o.text("type")]
		}
	}
	return m, m.Data != ""
}

// userEntries adds the entries of a user message. Anthropic has no tool role: results are blocks of a user message,
// possibly mixed with text. Strategies treat what a person said differently from tool output, so each run of results
// becomes one entry of the tool, each run of other blocks one of the human. like provides metadata and extra fields for
// all of them. A message without blocks still becomes one entry.
func (b *builder) userEntries(line int, p pieces, like content.Content) {
	for start := 0; start == 0 || start < len(p.blocks); {
		c := like
		c.Speaker = content.Human
		end := start
		for end < len(p.blocks) && p.ofTool[end] == p.ofTool[start] {
			end++
		}
		if start < end && p.ofTool[start] {
			c.Speaker = content.Tool
		}
		// Capped: a later extend of this entry does not overwrite the next entry's blocks.
		c.Blocks = p.blocks[start:end:end]
		b.add(line, c)
		start = max(end, 1)
	}
}
