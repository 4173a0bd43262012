package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// The fields in which entries that an agent added in a provider's form ([Parse]) carry what the native form has no
// place for. [Render] writes it back. Each is an object, because a provider's field could have the name of a native
// one.
const (
	fieldFormat = "format"
	// fieldMessage of an entry, or of the only block of its message, holds further fields of the message.
	fieldMessage = "message"
	// fieldItem of a block holds further fields of a call, or of an item of the Responses API.
	fieldItem = "item"
	// fieldParts of a response says of which parts its result was made: a list with {"text": bytes, …fields} for each
	// text and {"media": true} for each attachment, or true if the result itself is the list.
	fieldParts  = "parts"
	kindMessage = "provider_message"
)

func (p *planner) exact(c content.Content) bool {
	return len(c.Metadata) > 0 && rawjson.FieldText(c.Metadata, fieldFormat) == string(p.form)
}

// exactResult completes a response with the result that an agent gave, and returns it with its attachments: texts are
// joined with newlines, and fieldParts says how to part them when it is written back. A list with anything else is kept
// as the result.
func (b *builder) exactResult(r content.ToolResponse, raw []byte) []content.Block {
	result, media, parts := b.exactParts(raw)
	r.Result = result
	if parts != nil {
		r.Extra = r.Extra.With(content.Field{Name: fieldParts, Value: parts})
	}
	return append(one(r), media...)
}

func (b *builder) exactParts(raw []byte) (result json.RawMessage, media []content.Block, parts json.RawMessage) {
	list, ok := elements(raw)
	if !ok {
		return bytes.Clone(raw), nil, nil
	}
	textKind := "text"
	if b.form == OpenAIResponses {
		textKind = "input_text"
	}
	var texts []string
	layout := []byte{'['}
	for i, part := range list {
		var m metadata
		o := asObject(part)
		if text, ok := rawjson.Text(o.raw("text")); ok && o.text("type") == textKind && !o.has("media") {
			texts = append(texts, text)
			m.raw("text", fmt.Append(nil, len(text)))
			m.rest(o.but("type", "text"))
		} else if attached, ok := b.exactMedia(part); ok {
			media = append(media, attached)
			m.flag("media", true)
		} else {
			return bytes.Clone(raw), nil, json.RawMessage("true")
		}
		if i > 0 {
			layout = append(layout, ',')
		}
		layout = append(layout, m.json()...)
	}
	return content.String(strings.Join(texts, "\n")), media, append(layout, ']')
}

// parts returns the result of an answer in its original parts. ok is false if it was not given in parts, or was
// changed.
func (a *answer) parts(text func(string, object) []byte, media func(content.Media) []byte) (body []byte, ok bool) {
	layout := a.Extra.Get(fieldParts)
	if string(layout) == "true" {
		return a.Result, kind(a.Result) == '['
	}
	parts, ok := elements(layout)
	all, isText := rawjson.Text(a.Result)
	if !ok || !isText {
		return nil, false
	}
	var out [][]byte
	attached, texts := a.media, 0
	for _, part := range parts {
		o := asObject(part)
		if o.isTrue("media") {
			if len(attached) == 0 {
				return nil, false
			}
			out, attached = append(out, media(attached[0])), attached[1:]
			continue
		}
		if texts > 0 {
			if !strings.HasPrefix(all, "\n") {
				return nil, false
			}
			all = all[1:]
		}
		texts++
		// If a strategy changed the result, nothing about the lengths is certain.
		n, ok := wholeNumber(o.raw("text"))
		if !ok || n > len(all) || n < len(all) && !utf8.RuneStart(all[n]) {
			return nil, false
		}
		out, all = append(out, text(all[:n], o.but("text"))), all[n:]
	}
	// A rest means that something was added.
	return list(out), all == "" && len(attached) == 0
}

func (o object) but(names ...string) object {
	var out object
	for _, f := range o {
		if !slices.Contains(names, f.name) && !rawjson.IsNull(f.value) {
			out = append(out, f)
		}
	}
	return out
}

// rest sets all fields of an object, none of which may be set already.
func (m *metadata) rest(o object) {
	for _, f := range o {
		m.raw(f.name, f.value)
	}
}

// json returns the object; nil if it has no fields.
func (o object) json() json.RawMessage {
	var m metadata
	m.rest(o)
	return m.json()
}

// orEmpty is json with {} for no fields.
func (o object) orEmpty() json.RawMessage { return firstOf(o.json(), []byte("{}")) }

func without(fields content.Fields, names ...string) content.Fields {
	var out []content.Field
	for _, f := range fields.All() {
		if !slices.Contains(names, f.Name) {
			out = append(out, f)
		}
	}
	return content.FieldsOf(out...)
}

// same reports whether two JSON values are equal: the order of fields does not count, and null is the same as absent.
// Numbers are compared as they are written. It is asked for each part of each message that an agent adds, so the usual
// case, equal bytes, is decided first.
func same(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, okX := decoded(a)
	y, okY := decoded(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

func decoded(raw []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err := d.Decode(&v)
	return withoutNull(v), err == nil
}

// withoutNull removes the fields that are null, at any depth.
func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, field any) bool { return withoutNull(field) == nil })
	case []any:
		for _, element := range v {
			withoutNull(element)
		}
	}
	return v
}
