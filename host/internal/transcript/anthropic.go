package transcript

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// flaggedError is the error of a response that has only a flag (is_error). What went wrong is in the result.
const flaggedError = "the tool reported an error"

// pieces are the blocks of a provider's message; ofTool says which of them are a tool's answer.
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
// nil.
func (b *builder) messageContent(line int, raw []byte) pieces {
	p := pieces{blocks: []content.Block{}}
	if text, ok := rawjson.Text(raw); ok {
		p.add(false, content.Text{Text: text})
		return p
	}
	list, ok := elements(raw)
	if !ok && !rawjson.IsNull(raw) {
		b.oddity(
			line, -1, "message content that is neither text nor a list",
			"message content is %s, neither text nor a list; it is carried unchanged", clip(raw),
		)
		p.add(false, content.Opaque{JSON: bytes.Clone(raw)})
	}
	for _, raw := range list {
		blocks := anthropicBlock(raw)
		_, isResponse := blocks[0].(content.ToolResponse)
		p.add(isResponse, blocks...)
	}
	return p
}

// anthropicBlock reads one block. It reads OpenAI's too, since recorders mix them. A tool result with images becomes a
// response and, behind it, the images. A block that is not understood is carried unchanged.
func anthropicBlock(raw []byte) []content.Block {
	o := asObject(raw)
	switch o.text("type") {
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
				ID: id, Name: o.text("name"), Parameters: o.copyOf("input"), Extra: o.without("type", "id", "name", "input"),
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
	if block, ok := openAIPart(o); ok {
		return one(block)
	}
	return one(content.Opaque{JSON: bytes.Clone(raw)})
}

// one returns a list of one block.
func one(b content.Block) []content.Block { return []content.Block{b} }

// anthropicResult reads a result of the call id. Some recorders add the tool's name, which the API does not have.
func anthropicResult(id string, o object) []content.Block {
	r := content.ToolResponse{
		CallID: id, ToolName: o.text("name"), Extra: o.without("type", "tool_use_id", "content", "is_error", "name"),
	}
	if o.isTrue("is_error") {
		r.Error = flaggedError
	}
	result, media := resultOf(o.raw("content"), anthropicMedia)
	r.Result = result
	return append(one(r), media...)
}

// resultOf reads a tool's result. Parts of text become one text, and images and documents become media. A list with
// anything else in it is the tool's own JSON and is kept as it is.
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
		if text, ok := rawjson.Text(o.raw("text")); ok && o.text("type") == "text" {
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

// anthropicMedia reads an image or a document; ok is false without data. The API allows a URL without a type.
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

// userEntries adds the entries of a user message. Anthropic has no role for tools: results are blocks of a user
// message, possibly mixed with text. Each run of results becomes an entry of the tool, each run of other blocks one
// of the human, in their order. like has the metadata and extra fields of all of them.
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
		c.Blocks = p.blocks[start:end:end]
		b.add(line, c)
		start = max(end, 1) // a message without blocks is one entry
	}
}
