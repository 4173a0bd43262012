package messages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// How messages that an agent adds are read: nothing that they hold may be lost.

// Content reads what a message that an agent adds holds: a text, or parts.
func (b *Builder) Content(raw []byte) Pieces {
	p, _ := Read(raw, func(part []byte) []content.Block {
		o := ordered.Of(part)
		return b.exact(part, o, b.API.Blocks(o))
	})
	return p
}

// exact returns the blocks that a part was read as, if the part can be written back from them; otherwise the part is
// carried unchanged.
func (b *Builder) exact(raw []byte, o ordered.Object, blocks []content.Block) []content.Block {
	whole := One(content.Opaque{JSON: bytes.Clone(raw)})
	if len(blocks) == 0 {
		return whole
	}
	switch block := blocks[0].(type) {
	case content.ToolCall:
		return blocks
	case content.ToolResponse:
		k := b.API.Form.Part(o.Text("type"))
		block.Extra = o.Extra("type", k.ID, k.Value)
		// True is in Error; an explicit false must be written back.
		if block.Failed() {
			block.Extra = Without(block.Extra, k.Failed)
		}
		return b.Result(block, o.Raw(k.Value))
	case content.Text:
		if strings.TrimSpace(block.Text) == "" {
			return blocks // providers refuse it anyway
		}
	}
	// Writing the block tells whether it holds all of the part, whatever fields the provider may add one day. The role
	// decides what is written, and is not known here: either will do.
	for _, role := range []string{User, Assistant} {
		p := Plan{API: b.API}
		_, written, _ := p.Parts(Turn{Exact: true, Role: role, Blocks: blocks})
		if len(written) == 1 && ordered.Same(written[0], raw) {
			return blocks
		}
	}
	return whole
}

// Result completes a response with the result that an agent gave, and returns it with its attachments: texts are joined
// with newlines, and fieldParts says how to part them when it is written back. A list with anything else is kept as the
// result.
func (b *Builder) Result(r content.ToolResponse, raw []byte) []content.Block {
	result, media, parts := b.inParts(raw)
	r.Result = result
	if parts != nil {
		r.Extra = r.Extra.With(content.Field{Name: fieldParts, Value: parts})
	}
	return append(One(r), media...)
}

func (b *Builder) inParts(raw []byte) (result json.RawMessage, media []content.Block, parts json.RawMessage) {
	list, ok := ordered.Elements(raw)
	if !ok {
		return bytes.Clone(raw), nil, nil
	}
	textType := b.API.Form.TextType(content.Human)
	var texts []string
	var layout [][]byte
	for _, part := range list {
		var m ordered.Builder
		o := ordered.Of(part)
		if text, ok := rawjson.Text(o.Raw("text")); ok && o.Text("type") == textType && !o.Has("media") {
			texts = append(texts, text)
			m.Raw("text", fmt.Append(nil, len(text)))
			m.Rest(o.But("type", "text"))
		} else if attached, ok := b.media(part, o); ok {
			media = append(media, attached)
			m.Flag("media", true)
		} else {
			return bytes.Clone(raw), nil, json.RawMessage("true")
		}
		layout = append(layout, m.JSON())
	}
	return content.String(strings.Join(texts, "\n")), media, ordered.List(layout...)
}

// media returns the attachment in a part of a result; ok only if it would be written back the same.
func (b *Builder) media(part []byte, o ordered.Object) (m content.Media, ok bool) {
	if m, ok = b.API.Media(o); ok {
		_, ok = b.exact(part, o, One(m))[0].(content.Media)
	}
	return m, ok
}

// parts returns the result of an answer in its original parts. ok is false if it was not given in parts, or was
// changed.
func (a *Answer) parts(text func(string, ordered.Object) []byte, media func(content.Media) []byte) (
	body []byte, ok bool,
) {
	layout := a.Extra.Get(fieldParts)
	if string(layout) == "true" {
		return a.Result, ordered.Kind(a.Result) == '['
	}
	parts, ok := ordered.Elements(layout)
	all, isText := rawjson.Text(a.Result)
	if !ok || !isText {
		return nil, false
	}
	var out [][]byte
	attached, texts := a.Media, 0
	for _, part := range parts {
		o := ordered.Of(part)
		if o.True("media") {
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
		n, ok := ordered.Whole(o.Raw("text"))
		if !ok || n > len(all) || n < len(all) && !utf8.RuneStart(all[n]) {
			return nil, false
		}
		out, all = append(out, text(all[:n], o.But("text"))), all[n:]
	}
	// A rest means that something was added.
	return ordered.List(out...), all == "" && len(attached) == 0
}

// ExactArguments returns the arguments of a call. If its parameters would be written differently, they are as they
// stand: some models write nothing for no arguments, or spaces around them.
func ExactArguments(raw []byte) json.RawMessage {
	parameters, _ := Arguments(raw)
	if text, ok := rawjson.Text(raw); ok && ArgumentText(parameters) != text {
		return bytes.Clone(raw)
	}
	return parameters
}

// Carried returns a field that carries what is left of an object; none if nothing is.
func Carried(name string, o ordered.Object) content.Fields {
	if raw := o.JSON(); raw != nil {
		return content.FieldsOf(content.Field{Name: name, Value: raw})
	}
	return content.Fields{}
}

// Without returns the other fields.
func Without(fields content.Fields, names ...string) content.Fields {
	var out []content.Field
	for _, f := range fields.All() {
		if !slices.Contains(names, f.Name) {
			out = append(out, f)
		}
	}
	return content.FieldsOf(out...)
}
