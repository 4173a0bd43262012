package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// openAIPart reads a part of an OpenAI message; ok is false for other parts. Plain "text" parts look like Anthropic's
// and are read there. annotations and logprobs describe the text for the screen and are dropped.
func openAIPart(o object) (block content.Block, ok bool) {
	switch o.text("type") {
	case "input_text", "output_text":
		if text, ok := rawjson.Text(o.raw("text")); ok {
			return content.Text{Text: text, Extra: o.without("type", "text", "annotations", "logprobs")}, true
		}
	case "image_url", "input_image", "file":
		if m, ok := openAIMedia(o); ok {
			return m, true
		}
	}
	return nil, false
}

// openAIMedia reads an image or a file; ok is false if there is no data. Data is a data: URL or a link. The Chat API
// nests it in an object, the Responses API does not.
func openAIMedia(o object) (content.Media, bool) {
	var link string
	var m content.Media
	switch o.text("type") {
	case "image_url":
		link = o.object("image_url").text("url")
		m.Extra = o.object("image_url").without("url")
	case "input_image":
		link = o.text("image_url")
		m.Extra = o.without("type", "image_url")
	case "file":
		file := o.object("file")
		link = file.text("file_data")
		m.Filename = file.text("filename")
		m.Extra = file.without("file_data", "filename")
	}
	// For a link, only the kind is known.
	m.Data, m.Encoding, m.MimeType = link, "url", "image/*"
	if head, data, ok := strings.Cut(link, ";base64,"); ok && strings.HasPrefix(head, "data:") {
		m.Data, m.Encoding, m.MimeType = data, "base64", strings.TrimPrefix(head, "data:")
	}
	return m, link != ""
}

// openAICalls reads the tool calls of an assistant message. A call without a function is carried unchanged.
func (b *builder) openAICalls(line int, raw []byte) []content.Block {
	var blocks []content.Block
	list, _ := elements(raw)
	for _, raw := range list {
		o := asObject(raw)
		function := calledFunction(o)
		if function == nil {
			blocks = append(blocks, content.Opaque{JSON: bytes.Clone(raw)})
			continue
		}
		arguments := function.raw("arguments")
		if input := function.raw("input"); input != nil {
			arguments = input
		}
		parameters, ok := argumentsOf(arguments)
		if !ok {
			b.oddity(
				line, len(b.t.Entries), "call whose arguments are not JSON",
				"the arguments of the call %q are not JSON; they are kept as text", clip([]byte(o.text("id"))),
			)
		}
		call := content.ToolCall{ID: o.text("id"), Name: function.text("name"), Parameters: parameters}
		if b.form != "" {
			call.Extra = exactCall(o, function)
			call.Parameters = exactArguments(parameters, arguments)
		}
		blocks = append(blocks, call)
	}
	return blocks
}

// calledFunction returns what a call is of; nil if nothing. A tool that takes text is under "custom", and its arguments
// are "input".
func calledFunction(call object) object {
	if function := call.object("function"); function != nil {
		return function
	}
	return call.object("custom")
}

// madeID returns an id for a call without one; n counts them.
func madeID(n *int) string {
	*n++
	return fmt.Sprintf("call_%d", *n)
}

// argumentsOf reads a call's arguments, which are JSON inside a string. ok is false if the string is not JSON, because
// the model wrote invalid JSON or the tool takes plain text, such as a patch; the string itself is kept then. Empty
// arguments are nil.
func argumentsOf(raw []byte) (parameters json.RawMessage, ok bool) {
	text, isText := rawjson.Text(raw)
	switch {
	case !isText:
		return bytes.Clone(raw), true // some recorders store the JSON itself
	case strings.TrimSpace(text) == "":
		return nil, true
	case kind([]byte(text)) != '"' && checkJSON([]byte(text)) == nil: // a string would look like text that is not JSON
		return json.RawMessage(strings.TrimSpace(text)), true
	default:
		return bytes.Clone(raw), false
	}
}
