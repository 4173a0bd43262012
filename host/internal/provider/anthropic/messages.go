package anthropic

import (
	"cmp"
	"errors"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Name is the name of the form of messages in entries, files and answers. It never changes.
const Name = "anthropic-messages"

// Messages reads and writes the API's messages.
var Messages = messages.API{
	Form: &Form, Name: Name, Schema: "input_schema", Check: check, Reader: reader, Media: media, Write: write,
	// Without cache_control the provider caches nothing, and every request pays for its whole prompt.
	NoBlank: true, Keeps: []string{"cache_control", "citations"},
	Attach: attach, Think: think, Call: toolUse,
}

// check judges a message. One of the role "system" may have no content if it sets the effort.
func check(o ordered.Object) (part int, err error) {
	role := o.Text("role")
	switch err := messages.CheckRole(&Form, o); {
	case err != nil:
		return -1, err
	// The usual mistake: messages of one library, and the format of another. Reading on would lose the calls.
	case o.Has("tool_calls"):
		return -1, errors.New(`"tool_calls" is of the form openai-chat`)
	case bare(o):
		return -1, nil
	}
	return messages.CheckParts(&Form, role, o.Raw("content"), func(string) error { return nil })
}

// empty is the kind of the only block of an instruction without content: an entry has one.
const empty = "no_content"

// bare reports whether a message is an instruction without content.
func bare(o ordered.Object) bool {
	parts, list := ordered.Elements(o.Raw("content"))
	text, isText := rawjson.Text(o.Raw("content"))
	none := rawjson.IsNull(o.Raw("content")) || list && len(parts) == 0 || isText && text == ""
	return o.Text("role") == messages.System && o.Object("output_config") != nil && none
}

func reader(b *messages.Builder) func(at int, o ordered.Object) {
	return func(at int, o ordered.Object) {
		role := o.Text("role")
		p, extra := b.Content(o.Raw("content")), messages.Carried(messages.FieldMessage, o.But("role", "content"))
		if bare(o) {
			p.Blocks = messages.One(content.Opaque{JSON: []byte(`{"type":"` + empty + `"}`)})
			p.OfTool = []bool{false}
		}
		switch n := len(b.Entries); {
		// To the provider they are one message.
		case role == messages.Assistant && n > 0 && b.Entries[n-1].Speaker == content.AI:
			b.Extend(n-1, p.Blocks, extra.All()...)
		case role == messages.Assistant:
			b.Add(at, content.Content{Speaker: content.AI, Blocks: p.Blocks, Metadata: b.Meta(role), Extra: extra})
		case !b.Instructions(role, p.Blocks, extra):
			b.UserEntries(at, p, content.Content{Metadata: b.Meta(role), Extra: extra})
		}
	}
}

// media reads an image or a document. The API allows a URL without a MIME type, which token counting and other providers
// need: it is guessed from the block's type.
func media(o ordered.Object) (content.Media, bool) {
	source := o.Object("source")
	m := content.Media{
		MimeType: source.Text("media_type"), Filename: o.Text("title"), Extra: o.Extra("type", "source", "title"),
	}
	switch source.Text("type") {
	case "base64":
		m.Data, m.Encoding = source.Text("data"), "base64"
	case "url":
		m.Data, m.Encoding = source.Text("url"), "url"
		m.MimeType = cmp.Or(m.MimeType,
			map[string]string{"image": "image/*", "document": "application/pdf"}[o.Text("type")])
	}
	return m, m.Data != ""
}
