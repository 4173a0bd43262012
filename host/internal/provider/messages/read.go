package messages

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// One returns a list of one block.
func One(b content.Block) []content.Block { return []content.Block{b} }

// Read reads the content of a message: a text, or parts, each of which becomes at least one block. The blocks are never
// nil, which would mean an entry without blocks. ok is false if it is neither.
func Read(raw []byte, blocks func(part []byte) []content.Block) (p Pieces, ok bool) {
	p.Blocks = []content.Block{}
	if text, ok := rawjson.Text(raw); ok {
		p.Add(false, content.Text{Text: text})
		return p, true
	}
	list, ok := ordered.Elements(raw)
	for _, part := range list {
		made := blocks(part)
		_, isResponse := made[0].(content.ToolResponse)
		p.Add(isResponse, made...)
	}
	return p, ok
}

// Blocks reads a part by the row of its kind; nil if it has none, or lacks what a block needs. A tool result with images
// becomes a response followed by the images.
func (a *API) Blocks(o ordered.Object) []content.Block {
	k := a.Form.Part(o.Text("type"))
	if k == nil {
		return nil
	}
	text, isText := rawjson.Text(o.Raw(k.Value))
	isText = isText && k.Value != ""
	id, hasID := rawjson.Text(o.Raw(k.ID))
	switch {
	case k.Is == provider.Text && isText:
		return One(content.Text{Text: text, Extra: o.Extra("type", k.Value)})
	case k.Is == provider.Bound && isText:
		return One(content.Thinking{Thought: text, Signature: o.Text("signature"),
			Extra: o.Extra("type", k.Value, "signature")})
	case k.Is == provider.Call && hasID:
		return One(content.ToolCall{ID: id, Name: o.Text(k.Name), Parameters: o.Copy(k.Value),
			Extra: o.Extra("type", k.ID, k.Name, k.Value)})
	case k.Is == provider.Result && hasID:
		// Some recorders add the tool's name, which the API does not have.
		r := content.ToolResponse{CallID: id, ToolName: o.Text("name"),
			Extra: o.Extra("type", k.ID, k.Value, k.Failed, "name")}
		if o.True(k.Failed) {
			r.Error = FlaggedError
		}
		return WithResult(r, o.Raw(k.Value), a.Media)
	case k.Is == provider.Media:
		if m, ok := a.Media(o); ok {
			return One(m)
		}
	}
	return nil
}

// WithResult completes a response with its result, and returns it with its attachments.
func WithResult(r content.ToolResponse, raw []byte, media func(ordered.Object) (content.Media, bool)) []content.Block {
	result, attached := ResultOf(raw, media)
	r.Result = result
	return append(One(r), attached...)
}

// ResultOf reads a tool's result. Text parts are joined with newlines; images and documents become media. A list with
// anything else in it is the tool's own JSON and is kept: joining it would change what the model saw. Fields of the
// parts, such as citations, are lost here.
func ResultOf(
	raw []byte, media func(ordered.Object) (content.Media, bool),
) (result json.RawMessage, attached []content.Block) {
	list, ok := ordered.Elements(raw)
	if !ok {
		return bytes.Clone(raw), nil
	}
	var texts []string
	for _, part := range list {
		o := ordered.Of(part)
		// Codex records the types of the Responses API.
		if text, ok := rawjson.Text(o.Raw("text")); ok &&
			slices.Contains([]string{"text", "input_text", "output_text"}, o.Text("type")) {
			texts = append(texts, text)
			continue
		}
		m, ok := media(o)
		if !ok {
			return bytes.Clone(raw), nil
		}
		attached = append(attached, m)
	}
	return content.String(strings.Join(texts, "\n")), attached
}

// Attachment returns what is behind a link, which may be a "data:" URL with the data. For a real link, only the kind is
// known.
func Attachment(link string) content.Media {
	if head, data, ok := strings.Cut(link, ";base64,"); ok && strings.HasPrefix(head, "data:") {
		return content.Media{Data: data, Encoding: "base64", MimeType: strings.TrimPrefix(head, "data:")}
	}
	return content.Media{Data: link, Encoding: "url", MimeType: "image/*"}
}

// Arguments reads a call's arguments, which are JSON inside a string. ok is false if the string is not JSON, because the
// model wrote invalid JSON or the tool takes plain text, such as a patch; the string itself is kept then. Empty arguments
// are nil.
func Arguments(raw []byte) (parameters json.RawMessage, ok bool) {
	text, isText := rawjson.Text(raw)
	switch {
	case !isText:
		return bytes.Clone(raw), true // some recorders store the JSON itself
	case strings.TrimSpace(text) == "":
		return nil, true
	// A string would look like text that is not JSON.
	case ordered.Kind([]byte(text)) != '"' && rawjson.Valid([]byte(text)):
		return json.RawMessage(strings.TrimSpace(text)), true
	default:
		return bytes.Clone(raw), false
	}
}

// ArgumentText returns parameters the way OpenAI's APIs have them: JSON inside a string. Text that was not JSON is
// written unchanged; it is the inverse of [Arguments].
func ArgumentText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	// A text that would read as other JSON must be quoted, or reading it back would give an object.
	if text := ordered.Text(raw); ordered.Kind(raw) == '"' &&
		(ordered.Kind([]byte(text)) == '"' || strings.TrimSpace(text) != text || !rawjson.Valid([]byte(text))) {
		return text
	}
	return string(raw)
}
