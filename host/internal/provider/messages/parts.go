package messages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Parts returns the blocks of a turn as parts of a message. text is the last text; plain says that all parts are texts
// without fields of their own, as a string holds them. What the form cannot hold is tallied.
func (p *Plan) Parts(t Turn) (text string, parts [][]byte, plain bool) {
	plain = true
	for _, block := range t.Blocks {
		switch block := block.(type) {
		case content.Text:
			// Also with exact: a strategy's edit may have left a blank text.
			if p.API.NoBlank && strings.TrimSpace(block.Text) == "" {
				p.Tally.Count(0, t.Entry, "blank text left out: the API refuses it")
				continue
			}
			text, plain = block.Text, plain && !(t.Exact && len(block.Extra.All()) > 0)
			parts = append(parts, p.text(t, block.Text, block.Extra))
		case content.Media:
			part, ok := p.API.Attach(p, t, block)
			if ok {
				plain = false
			} else {
				text = placeholder(block)
				part = p.attachmentText(t, block)
			}
			parts = append(parts, part)
		case content.Thinking:
			if p.API.Think == nil && !t.Exact {
				p.Tally.Count(0, t.Entry, "thinking left out")
			} else if p.API.Think != nil {
				if part := p.API.Think(p, t, block); part != nil {
					parts, plain = append(parts, part), false
				}
			}
		case *Call:
			if p.API.Call != nil {
				parts, plain = append(parts, p.API.Call(p, t, block)), false
			}
		case content.Opaque:
			if t.Exact || p.takes(block, t.Role) {
				parts, plain = append(parts, block.JSON), false
			} else {
				p.LeaveOut(t, block)
			}
		}
	}
	return text, parts, plain
}

// takes reports whether a block that is not understood is the form's own. The API refuses a call of a tool that it ran
// without its result, and the reverse.
func (p *Plan) takes(block content.Opaque, role string) bool {
	k := p.API.Form.Part(block.Kind())
	switch {
	case k == nil, k.Is == provider.Own && k.ID != "" && p.own[rawjson.FieldText(block.JSON, k.ID)] < 2:
		return false
	case k.Is == provider.Media:
		return role == User
	}
	return role == Assistant && (k.Is == provider.Own || k.Is == provider.Bound)
}

// LeaveOut tallies a block that is not written.
func (p *Plan) LeaveOut(t Turn, block content.Opaque) {
	p.Tally.Count(0, t.Entry, fmt.Sprintf("block of the kind %q left out", ordered.Clip([]byte(block.Kind()))))
}

func (p *Plan) text(t Turn, text string, extra content.Fields) []byte {
	by := content.Human
	if t.Role == Assistant {
		by = content.AI
	}
	return p.Block(t, p.API.Form.TextType(by), extra, ordered.Field{Name: "text", Value: content.String(text)})
}

// Block builds a block from its fields. An unknown field would make the API refuse the whole request, so of the extra
// fields it writes only those of the API. With exact, everything is written back.
func (p *Plan) Block(t Turn, kind string, extra content.Fields, fields ...ordered.Field) []byte {
	var m ordered.Builder
	m.Text("type", kind)
	m.Rest(fields)
	for _, f := range extra.All() {
		if t.Exact || slices.Contains(p.API.Keeps, f.Name) {
			m.Raw(f.Name, f.Value)
			continue
		}
		p.Tally.Count(0, t.Entry, fmt.Sprintf("field %q of a block left out", ordered.Clip([]byte(f.Name))))
	}
	return m.JSON()
}

// attachmentText returns a text in place of an attachment that the form cannot hold.
func (p *Plan) attachmentText(t Turn, m content.Media) []byte {
	p.Tally.Count(0, t.Entry, "attachment that the format cannot hold replaced by a line of text")
	return p.text(t, placeholder(m), content.Fields{})
}

// placeholder returns the text that replaces an attachment, with its type and name: the model knows what it cannot see.
// It is never empty, or a message of it alone would be refused.
func placeholder(m content.Media) string {
	return strings.TrimSpace("["+m.MimeType+" "+cmp.Or(m.Filename, m.Caption)) + "]"
}

// Link returns the address of an attachment, with the data in it if they are no link, and the fields that are its own.
// detail sets the resolution of an image, and with it how many tokens it costs.
func Link(t Turn, m content.Media) (link string, image bool, fields ordered.Object) {
	link, image = m.Data, strings.HasPrefix(m.MimeType, "image/")
	if m.Encoding != "url" {
		link = "data:" + m.MimeType + ";base64," + m.Data
	}
	for _, f := range m.Extra.All() {
		if image && (t.Exact || f.Name == "detail") {
			fields = append(fields, ordered.Field{Name: f.Name, Value: f.Value})
		}
	}
	return link, image, fields
}

// File returns a PDF as OpenAI's APIs have it, inline only; nil for anything else.
func File(m content.Media, link string) ordered.Object {
	if m.MimeType != "application/pdf" || m.Encoding == "url" {
		return nil
	}
	return ordered.Object{{Name: "filename", Value: content.String(cmp.Or(m.Filename, "document.pdf"))},
		{Name: "file_data", Value: content.String(link)}}
}

// Result returns the content of a response: its original parts if it was given in parts and not edited since, else its
// text, in a list if there are media. Where results are messages, they hold no media; whole says that these are in the
// result or there are none.
func (p *Plan) Result(a *Answer, entry int) (body json.RawMessage, whole bool) {
	t := Turn{Entry: entry, Role: User, Exact: a.Exact}
	media := func(m content.Media) []byte {
		part, ok := p.API.Attach(p, t, m)
		if !ok {
			part = p.attachmentText(t, m)
		}
		return part
	}
	if a.Exact {
		if parts, ok := a.parts(func(text string, fields ordered.Object) []byte {
			part := ordered.Builder(p.text(t, text, content.Fields{}))
			part = part[:len(part)-1]
			part.Rest(fields)
			return part.JSON()
		}, media); ok {
			return parts, true
		}
		// Of one of the API's own tools, such as a screenshot.
		if p.API.Form.Flat && ordered.Kind(a.ToolResponse.Result) == '{' {
			return a.ToolResponse.Result, true
		}
	}
	text := resultText(a.ToolResponse)
	if len(a.Media) == 0 || p.API.Form.ResultRole != "" {
		return content.String(text), len(a.Media) == 0
	}
	var parts [][]byte
	if strings.TrimSpace(text) != "" { // Anthropic refuses blank text in a list
		parts = append(parts, p.text(t, text, content.Fields{}))
	}
	for _, m := range a.Media {
		parts = append(parts, media(m))
	}
	return ordered.List(parts...), true
}

// resultText returns what a model reads of a tool's result: the result, or the error if there is none. A failed tool
// often says more in its result.
func resultText(r content.ToolResponse) string {
	if rawjson.IsNull(r.Result) && r.Failed() {
		return r.Error
	}
	return r.ResultText()
}
