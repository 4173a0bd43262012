package wire

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Field numbers of thresh.v1.Content and thresh.v1.Block.
const (
	contentSpeaker  = 1
	contentBlocks   = 2
	contentMetadata = 3
	contentExtra    = 4
	contentNoBlocks = 5

	blockText         = 1
	blockToolCall     = 2
	blockToolResponse = 3
	blockMedia        = 4
	blockThinking     = 5
	blockCode         = 6
	blockOpaque       = 7
	blockExtra        = 15
)

// value is one field of a block's message: a string or raw JSON, never both.
type value struct {
	str string
	raw json.RawMessage
}

// values are the fields of a block's message, numbered from 1 in order. Five is what the largest kind, Media, has. A
// fixed array keeps encoding free of allocations: it runs for every block of every call.
type values [5]value

// size returns how many bytes append writes.
func (v *values) size() int {
	n := 0
	for i := range v {
		num := protowire.Number(i + 1)
		n += sizeString(num, v[i].str) + sizeBytes(num, v[i].raw)
	}
	return n
}

// append writes the fields that are not empty, as proto3 wants. For JSON, empty means absent; see decodeRaw.
func (v *values) append(dst []byte) []byte {
	for i := range v {
		num := protowire.Number(i + 1)
		dst = appendString(dst, num, v[i].str)
		dst = appendBytes(dst, num, v[i].raw)
	}
	return dst
}

// blockValues takes a block apart. kind is its field number in thresh.v1.Block, 0 if b is not a block that can be sent.
// It is the only place that maps Go fields to field numbers for writing; newBlock is its inverse for reading.
//
// A nil block is sent as the JSON null in an opaque block, so that positions of blocks stay the same on both sides.
func blockValues(b content.Block) (kind protowire.Number, v values, extra content.Fields) {
	switch b := b.(type) {
	case content.Text:
		return blockText, values{{str: b.Text}}, b.Extra
	case content.ToolCall:
		return blockToolCall, values{{str: b.ID}, {str: b.Name}, {raw: b.Parameters}}, b.Extra
	case content.ToolResponse:
		return blockToolResponse, values{{str: b.CallID}, {str: b.ToolName}, {raw: b.Result}, {str: b.Error}}, b.Extra
	case content.Media:
		return blockMedia, values{{str: b.MimeType}, {str: b.Data}, {str: b.Encoding}, {str: b.Caption},
			{str: b.Filename}}, b.Extra
	case content.Thinking:
		return blockThinking, values{{str: b.Thought}, {str: b.Signature}}, b.Extra
	case content.Code:
		return blockCode, values{{str: b.Code}, {str: b.Language}}, b.Extra
	case content.Opaque:
		return blockOpaque, values{{raw: b.JSON}}, nil
	case nil:
		return blockOpaque, values{{raw: json.RawMessage("null")}}, nil
	default:
		return 0, values{}, nil
	}
}

// sizeBlock returns how many bytes appendBlock writes for b. An opaque block has no message of its own and no extra
// fields: they are part of its JSON.
func sizeBlock(b content.Block) int {
	kind, v, extra := blockValues(b)
	if kind == blockOpaque {
		return sizeMessage(kind, len(v[0].raw))
	}
	return sizeMessage(kind, v.size()) + sizeExtra(blockExtra, extra)
}

// appendBlock writes the body of a thresh.v1.Block: the block's own message in the field of its kind, then the fields
// that this version does not know.
func appendBlock(dst []byte, b content.Block) []byte {
	kind, v, extra := blockValues(b)
	// The field is the JSON itself. It is written even when empty, because presence in the oneof is what makes the
	// kind.
	if kind == blockOpaque { // the field is the JSON itself, also when it is empty
		return append(appendMessage(dst, kind, len(v[0].raw)), v[0].raw...)
	}
	dst = v.append(appendMessage(dst, kind, v.size()))
	return appendExtra(dst, blockExtra, extra)
}

// sizeExtra returns how many bytes appendExtra writes.
func sizeExtra(num protowire.Number, extra content.Fields) int {
	n := 0
	for _, f := range extra {
		n += sizeMessage(num, sizeString(1, f.Name)+sizeBytes(2, f.Value))
	}
	return n
}

// appendExtra writes unknown fields of the native form, as repeated thresh.v1.Field in the field num. They travel so
// that a block which a strategy returns unchanged compares equal to the host's and counts as kept.
func appendExtra(dst []byte, num protowire.Number, extra content.Fields) []byte {
	for _, f := range extra {
		dst = appendMessage(dst, num, sizeString(1, f.Name)+sizeBytes(2, f.Value))
		dst = appendString(dst, 1, f.Name)
		dst = appendBytes(dst, 2, f.Value)
	}
	return dst
}

// AppendContent writes the body of a thresh.v1.Content.
func AppendContent(dst []byte, c content.Content) []byte { return appendContent(dst, c) }

// CopyContent returns a copy of c whose texts refer to buf, which holds what AppendContent wrote for c.
func CopyContent(buf []byte) (content.Content, error) { return decodeContent(buf, carryUnknown) }

// SizeContent returns how many bytes AppendContent writes.
func SizeContent(c content.Content) int { return sizeContent(c) }

// sizeContent returns how many bytes appendContent writes.
func sizeContent(c content.Content) int {
	n := sizeString(contentSpeaker, string(c.Speaker)) + sizeBytes(contentMetadata, c.Metadata) +
		sizeExtra(contentExtra, c.Extra)
	for _, b := range c.Blocks {
		n += sizeMessage(contentBlocks, sizeBlock(b))
	}
	if c.Blocks == nil {
		n += sizeUint(contentNoBlocks, 1)
	}
	return n
}

// appendContent writes the body of a thresh.v1.Content. NoBlocks marks an entry whose blocks are missing (nil), because
// a repeated field cannot tell this from zero blocks. The native form keeps the two apart, and entries must compare
// equal.
func appendContent(dst []byte, c content.Content) []byte {
	dst = appendString(dst, contentSpeaker, string(c.Speaker))
	for _, b := range c.Blocks {
		dst = appendMessage(dst, contentBlocks, sizeBlock(b))
		dst = appendBlock(dst, b)
	}
	dst = appendBytes(dst, contentMetadata, c.Metadata)
	dst = appendExtra(dst, contentExtra, c.Extra)
	if c.Blocks == nil {
		dst = appendUint(dst, contentNoBlocks, 1)
	}
	return dst
}

// sendable returns c if all of it can be sent, otherwise a copy whose text is UTF-8. The caller's blocks are never
// changed: a strategy or another call may be reading them. Blocks other than the model's seven kinds, for example
// pointers to blocks, are refused with [ErrBadContent].
func sendable(c content.Content) (content.Content, error) {
	c.Speaker = content.Speaker(validUTF8(string(c.Speaker)))
	c.Extra = validExtra(c.Extra)
	copied := false
	for i, b := range c.Blocks {
		valid, changed, err := sendableBlock(b)
		if err != nil {
			return c, fmt.Errorf("block %d: %w", i, err)
		}
		if changed {
			if !copied {
				c.Blocks = append([]content.Block(nil), c.Blocks...)
				copied = true
			}
			c.Blocks[i] = valid
		}
	}
	return c, nil
}

// sendableBlock is sendable for one block; changed reports whether valid differs from b.
func sendableBlock(b content.Block) (valid content.Block, changed bool, err error) {
	kind, v, extra := blockValues(b)
	if kind == 0 {
		return nil, false, fmt.Errorf("%w: it is a %T; use the plain value of one of content's seven kinds",
			ErrBadContent, b)
	}
	for i := range v {
		if s := validUTF8(v[i].str); s != v[i].str {
			v[i].str, changed = s, true
		}
	}
	if e := validExtra(extra); !e.Equal(extra) {
		extra, changed = e, true
	}
	if !changed {
		return b, false, nil
	}
	return newBlock(kind, v, extra), true, nil
}

// validExtra returns f if all names are UTF-8, else a copy in which they are.
func validExtra(f content.Fields) content.Fields {
	var out content.Fields
	for i := range f {
		if s := validUTF8(f[i].Name); s != f[i].Name {
			if out == nil {
				out = append(out, f...)
			}
			out[i].Name = s
		}
	}
	if out == nil {
		return f
	}
	return out
}

// newBlock builds a block from its fields; it is the inverse of blockValues. kind has been checked by the caller, so
// the default is blockOpaque.
func newBlock(kind protowire.Number, v values, extra content.Fields) content.Block {
	switch kind {
	case blockText:
		return content.Text{Text: v[0].str, Extra: extra}
	case blockToolCall:
		return content.ToolCall{ID: v[0].str, Name: v[1].str, Parameters: v[2].raw, Extra: extra}
	case blockToolResponse:
		return content.ToolResponse{CallID: v[0].str, ToolName: v[1].str, Result: v[2].raw, Error: v[3].str,
			Extra: extra}
	case blockMedia:
		return content.Media{MimeType: v[0].str, Data: v[1].str, Encoding: v[2].str, Caption: v[3].str,
			Filename: v[4].str,
			Extra:    extra}
	case blockThinking:
		return content.Thinking{Thought: v[0].str, Signature: v[1].str, Extra: extra}
	case blockCode:
		return content.Code{Code: v[0].str, Language: v[1].str, Extra: extra}
	default:
		return content.Opaque{JSON: v[0].raw}
	}
}
