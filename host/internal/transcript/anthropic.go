package transcript

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// flaggedError stands for a failure that the recorder flagged without words; the words are in the result.
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

// messageContent reads the content of a provider's message: a string, or blocks of whatever provider. The blocks are never nil.
func (b *builder) messageContent(line int, raw []byte) pieces {
	p := pieces{blocks: []content.Block{}}
	if text, ok := rawjson.Text(raw); ok {
		p.add(false, content.Text{Text: text})
		return p
	}
	list, ok := elements(raw)
	if !ok && !rawjson.IsNull(raw) {
		b.oddity(line, -1, "message content that is neither text nor a list", "message content is %s, neither text nor a list; it is carried unchanged", clip(raw))
		p.add(false, content.Opaque{JSON: bytes.Clone(raw)})
	}
	for _, raw := range list {
		blocks := anthropicBlock(raw)
		_, isResponse := blocks[0].(content.ToolResponse)
		p.add(isResponse, blocks...)
	}
	return p
}

// anthropicBlock reads one block, also one of OpenAI's, for recorders mix them. A tool result with images becomes a response and media.
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
		// A file that Cline put in beside the words that mention it; the model saw it as text.
		if text, ok := rawjson.Text(o.raw("content")); ok {
			return one(content.Text{Text: "<file path=\"" + o.text("path") + "\">\n" + text + "\n</file>"})
		}
	}
	if block, ok := openAIPart(o); ok {
		return one(block)
	}
	return one(content.Opaque{JSON: bytes.Clone(raw)})
}

func one(b content.Block) []content.Block { return []content.Block{b} }

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

// resultOf reads a tool's answer. Parts of text become one text, images and documents become media; a list with
// anything else in it stays as it is.
func resultOf(raw []byte, readMedia func(object) (content.Media, bool)) (result json.RawMessage, media []content.Block) {
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

func anthropicMedia(o object) (content.Media, bool) {
	source := o.object("source")
	m := content.Media{MimeType: source.text("media_type"), Filename: o.text("title"), Extra: o.without("type", "source", "title")}
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

// userEntries adds the entries of a user message: a tool's answers become entries of the tool, everything else entries
// of the human, in the order in which they stand. like gives metadata and extra fields.
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
		b.name(c.Blocks)
		b.add(line, c)
		start = max(end, 1) // a message without blocks is one entry
	}
}
