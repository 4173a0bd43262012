package transcript

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/chat"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// What messages and results hold, in the three forms: texts, attachments, thinking and calls.

// parts returns the blocks of a turn as parts of a message. text is the last text; plain says that all parts are texts
// without fields of their own, as a string holds them. What the form cannot hold is tallied. Calls are parts only in
// Anthropic's form.
func (p *planner) parts(t turn) (text string, parts [][]byte, plain bool) {
	plain = true
	for _, block := range t.blocks {
		switch block := block.(type) {
		case content.Text:
			// Also with exact: a strategy's edit may have left a blank text.
			if p.form == AnthropicMessages && strings.TrimSpace(block.Text) == "" {
				p.tally.count(0, t.entry, "blank text left out: the API refuses it")
				continue
			}
			text, plain = block.Text, plain && !(t.exact && len(block.Extra.All()) > 0)
			parts = append(parts, p.text(t, block.Text, block.Extra))
		case content.Media:
			part, ok := p.media(t, block)
			if ok {
				plain = false
			} else {
				text = placeholder(block)
				part = p.attachmentText(t, block)
			}
			parts = append(parts, part)
		case content.Thinking:
			if part := p.thinking(t, block); part != nil {
				parts, plain = append(parts, part), false
			}
		case *call:
			if p.form == AnthropicMessages {
				parts, plain = append(parts, p.toolUse(t, block)), false
			}
		case content.Opaque:
			if k := block.Kind(); t.exact || p.takes(block, t.role) {
				parts, plain = append(parts, block.JSON), false
			} else {
				p.tally.count(0, t.entry, fmt.Sprintf("block of the kind %q left out", clip([]byte(k))))
			}
		}
	}
	return text, parts, plain
}

// takes reports whether a block that this package does not understand is the form's own.
func (p *planner) takes(block content.Opaque, role string) bool {
	switch p.form {
	case AnthropicMessages:
		k := anthropic.Form.Part(block.Kind())
		if k != nil && k.Is == provider.Own && p.own[rawjson.FieldText(block.JSON, k.ID)] < 2 {
			return false // the API refuses a call without its result, and the reverse
		}
		return k != nil && (role == roleAssistant && (k.Is == provider.Own || k.Is == provider.Bound) ||
			role == roleUser && k.Is == provider.Media)
	case OpenAIChat:
		k := chat.Form.Part(block.Kind())
		return role == roleUser && k != nil && k.Is == provider.Media
	}
	return false
}

// countOwn counts the blocks of tools that the provider ran by their ids.
func (p *planner) countOwn() {
	p.own = map[string]int{}
	for _, t := range p.turns {
		for _, b := range t.blocks {
			if o, ok := b.(content.Opaque); ok {
				if k := anthropic.Form.Part(o.Kind()); k != nil && k.Is == provider.Own {
					p.own[rawjson.FieldText(o.JSON, k.ID)]++
				}
			}
		}
	}
}

func (p *planner) text(t turn, text string, extra content.Fields) []byte {
	kind := "text"
	if p.form == OpenAIResponses {
		// What the model said has another type than what it was told, and the API insists on it.
		kind = "input_text"
		if t.role == roleAssistant {
			kind = "output_text"
		}
	}
	return p.block(t, kind, extra, field{name: "text", value: content.String(text)})
}

// block builds a block from its fields. An unknown field would make the API refuse the whole request, so of the extra
// fields it writes only those of the API. With exact, everything is written back.
func (p *planner) block(t turn, kind string, extra content.Fields, fields ...field) []byte {
	var m metadata
	m.text("type", kind)
	m.rest(fields)
	for _, f := range extra.All() {
		switch {
		// Without cache_control the provider caches nothing, and every request pays for its whole prompt.
		case t.exact, p.form == AnthropicMessages && (f.Name == "cache_control" || f.Name == "citations"):
			m.raw(f.Name, f.Value)
		case p.form == AnthropicMessages:
			p.tally.count(0, t.entry, fmt.Sprintf("field %q of a block left out", clip([]byte(f.Name))))
		default:
			p.tally.count(0, t.entry, fmt.Sprintf("field %q of a text left out", clip([]byte(f.Name))))
		}
	}
	return m.json()
}

// thinking returns the model's reasoning as a block of Anthropic, which verifies it by its signature. The chat API has it
// in a field of the message, the Responses API in an item.
func (p *planner) thinking(t turn, block content.Thinking) []byte {
	switch {
	case p.form != AnthropicMessages && t.exact:
		return nil
	case p.form != AnthropicMessages:
		p.tally.count(0, t.entry, "thinking left out")
		return nil
	// A signature of another provider would be refused as well, but nothing tells it from one of this provider.
	case !t.exact && (block.Signature == "" || t.role != roleAssistant):
		p.tally.count(0, t.entry, "thinking without a signature left out")
		return nil
	}
	fields := []field{{name: "thinking", value: content.String(block.Thought)}}
	if block.Signature != "" {
		fields = append(fields, field{name: "signature", value: content.String(block.Signature)})
	}
	if !t.exact {
		block.Extra = content.Fields{}
	}
	return p.block(t, "thinking", block.Extra, fields...)
}

// media returns an image or a document as a part; ok is false for what the API does not take there: attachments of the
// model, and types other than images and PDFs.
func (p *planner) media(t turn, m content.Media) (part []byte, ok bool) {
	image, pdf := strings.HasPrefix(m.MimeType, "image/"), m.MimeType == "application/pdf"
	if p.form == AnthropicMessages {
		if t.role == roleAssistant || !image && !pdf {
			return nil, false
		}
		return p.anthropicMedia(t, m, pdf), true
	}
	// An agent's own message was accepted once.
	if t.role != roleUser && (!t.exact || p.form == OpenAIResponses) {
		return nil, false
	}
	link := m.Data
	if m.Encoding != "url" {
		link = "data:" + m.MimeType + ";base64," + m.Data
	}
	kind, out := "image_url", metadata(nil)
	switch {
	case image && p.form == OpenAIResponses:
		out.text("type", "input_image")
		out.raw("image_url", content.String(link))
	case image:
		out.raw("url", content.String(link))
	case pdf && m.Encoding != "url": // inline only
		kind = "file"
		if p.form == OpenAIResponses {
			out.text("type", "input_file")
		}
		out.raw("filename", content.String(cmp.Or(m.Filename, "document.pdf")))
		out.raw("file_data", content.String(link))
	default:
		return nil, false
	}
	// detail sets the resolution, and with it how many tokens the image costs.
	for _, f := range m.Extra.All() {
		if image && (t.exact || f.Name == "detail") {
			out.raw(f.Name, f.Value)
		}
	}
	if p.form == OpenAIResponses {
		return out.json(), true
	}
	return fmt.Appendf(nil, `{"type":%q,%q:%s}`, kind, kind, out.json()), true
}

func (p *planner) anthropicMedia(t turn, m content.Media, pdf bool) []byte {
	// Data that is not a URL is base64, whatever its encoding is called.
	source := fmt.Appendf(
		nil, `{"type":"base64","media_type":%s,"data":%s}`, content.String(m.MimeType), content.String(m.Data),
	)
	if m.Encoding == "url" {
		source = fmt.Appendf(nil, `{"type":"url","url":%s}`, content.String(m.Data))
	}
	kind, fields := "image", []field{{name: "source", value: source}}
	if pdf {
		kind = "document"
		if m.Filename != "" {
			fields = append(fields, field{name: "title", value: content.String(m.Filename)})
		}
	}
	return p.block(t, kind, m.Extra, fields...)
}

// attachmentText returns a text in place of an attachment that the form cannot hold.
func (p *planner) attachmentText(t turn, m content.Media) []byte {
	p.tally.count(0, t.entry, "attachment that the format cannot hold replaced by a line of text")
	return p.text(t, placeholder(m), content.Fields{})
}

// placeholder returns the text that replaces an attachment, with its type and name: the model knows what it cannot see.
// It is never empty, or a message of it alone would be refused.
func placeholder(m content.Media) string {
	return strings.TrimSpace("["+m.MimeType+" "+cmp.Or(m.Filename, m.Caption)) + "]"
}

// result returns the content of a response: its original parts if it was given in parts and not edited since, else its
// text, in a list if there are media. The chat API takes no media in it; whole says that they are in the result or there
// are none.
func (p *planner) result(a *answer, entry int) (body json.RawMessage, whole bool) {
	t := turn{entry: entry, role: roleUser, exact: a.exact}
	media := func(m content.Media) []byte {
		part, ok := p.media(t, m)
		if !ok {
			part = p.attachmentText(t, m)
		}
		return part
	}
	if a.exact {
		if parts, ok := a.parts(func(text string, fields object) []byte {
			part := metadata(p.text(t, text, content.Fields{}))
			part = part[:len(part)-1]
			part.rest(fields)
			return part.json()
		}, media); ok {
			return parts, true
		}
		if p.form == OpenAIResponses && kind(a.Result) == '{' { // of one of the API's own tools, such as a screenshot
			return a.Result, true
		}
	}
	text := resultText(a.ToolResponse)
	if len(a.media) == 0 || p.form == OpenAIChat {
		return content.String(text), len(a.media) == 0
	}
	var parts [][]byte
	if strings.TrimSpace(text) != "" { // Anthropic refuses blank text in a list
		parts = append(parts, p.text(t, text, content.Fields{}))
	}
	for _, m := range a.media {
		parts = append(parts, media(m))
	}
	return list(parts), true
}

// argumentText returns parameters the way OpenAI's APIs have them: JSON inside a string. Text that was not JSON is
// written unchanged; it is the inverse of argumentsOf.
func argumentText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	// A text that would read as other JSON must be quoted, or reading it back would give an object.
	if text := asText(raw); kind(raw) == '"' &&
		(kind([]byte(text)) == '"' || strings.TrimSpace(text) != text || checkJSON([]byte(text)) != nil) {
		return text
	}
	return string(raw)
}

func list(values [][]byte) []byte {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}
