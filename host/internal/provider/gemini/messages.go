package gemini

import (
	"bytes"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// IDs gives calls and their responses the ids that they lack: a response without one answers the oldest open call of its
// tool. The zero value is ready.
type IDs struct {
	open map[string][]string // made ids of unanswered calls, by tool
	made int
}

// Blocks reads the parts of a message: calls, responses and thoughts, and what [Blocks] reads.
func (i *IDs) Blocks(raw []byte) []content.Block { return blocks(raw, i.block) }

func (i *IDs) block(raw []byte) content.Block {
	o := ordered.Of(raw)
	call, response := o.Object("functionCall"), o.Object("functionResponse")
	switch {
	case call != nil:
		return content.ToolCall{ID: i.call(call), Name: call.Text("name"), Parameters: call.Copy("args")}
	case response != nil:
		return Response(response, i.answer(response))
	case o.True("thought"):
		return content.Thinking{Thought: o.Text("text"), Signature: o.Text("thoughtSignature")}
	}
	return said(raw)
}

func (i *IDs) call(o ordered.Object) string {
	if id := o.Text("id"); id != "" {
		return id
	}
	i.made++
	if i.open == nil {
		i.open = map[string][]string{}
	}
	id, name := fmt.Sprintf("call_%d", i.made), o.Text("name")
	i.open[name] = append(i.open[name], id)
	return id
}

func (i *IDs) answer(o ordered.Object) string {
	name := o.Text("name")
	if id := o.Text("id"); id != "" || len(i.open[name]) == 0 {
		return id
	}
	id := i.open[name][0]
	i.open[name] = i.open[name][1:]
	return id
}

// Blocks reads texts and attachments: a text alone, or a list of parts. What is not understood is carried unchanged. The
// result is never nil: an entry without parts is one without blocks.
func Blocks(raw []byte) []content.Block { return blocks(raw, said) }

func blocks(raw []byte, block func([]byte) content.Block) []content.Block {
	out := []content.Block{}
	parts, ok := ordered.Elements(raw)
	switch text, isText := rawjson.Text(raw); {
	case isText:
		out = append(out, content.Text{Text: text})
	case !ok && !rawjson.IsNull(raw):
		out = append(out, said(raw))
	}
	for _, part := range parts {
		out = append(out, block(part))
	}
	return out
}

// Response reads a functionResponse. The API has no flag for a failed call: the message is in the response.
func Response(o ordered.Object, id string) content.ToolResponse {
	return content.ToolResponse{CallID: id, ToolName: o.Text("name"), Result: o.Copy("response"),
		Error: o.Object("response").Text("error")}
}

func said(raw []byte) content.Block {
	o := ordered.Of(raw)
	if text, ok := rawjson.Text(o.Raw("text")); ok {
		return content.Text{Text: text, Extra: o.Extra("text")}
	}
	if m, ok := Media(o); ok {
		return m
	}
	return content.Opaque{JSON: bytes.Clone(raw)}
}

// Media reads an attachment; ok is false if there is none.
func Media(o ordered.Object) (content.Media, bool) {
	if data := o.Object("inlineData"); data.Has("data") {
		return content.Media{MimeType: data.Text("mimeType"), Data: data.Text("data"), Encoding: "base64"}, true
	}
	if file := o.Object("fileData"); file.Has("fileUri") {
		return content.Media{MimeType: file.Text("mimeType"), Data: file.Text("fileUri"), Encoding: "url"}, true
	}
	return content.Media{}, false
}
