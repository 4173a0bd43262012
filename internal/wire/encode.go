package wire

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/sdk/content"
)

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

type value struct {
	str string
	raw json.RawMessage
}

// values are the fields of a block's message, numbered from 1; Media has the most, five. An array keeps encoding free
// of allocations: it runs for every block of every call.
type values [5]value

func (e *encoder) fields(v *values) {
	for i := range v {
		e.str(protowire.Number(i+1), v[i].str)
		e.raw(protowire.Number(i+1), v[i].raw)
	}
}

// blockValues takes a block apart. kind is its field number in thresh.v1.Block, 0 if b cannot be sent. newBlock is its
// inverse.
//
// A nil block is sent as the JSON null in an opaque block, which keeps positions the same on both sides.
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
		return blockOpaque, values{{raw: b.JSON}}, content.Fields{}
	case nil:
		return blockOpaque, values{{raw: json.RawMessage("null")}}, content.Fields{}
	default:
		return 0, values{}, content.Fields{}
	}
}

// block writes the body of a thresh.v1.Block. Anything but the plain values of the model's seven kinds, for example a
// pointer, is refused with [ErrBadContent].
func (e *encoder) block(b content.Block) {
	kind, v, extra := blockValues(b)
	switch kind {
	case 0:
		if e.err == nil {
			e.err = fmt.Errorf("%w: it is a %T; use the plain value of one of content's seven kinds", ErrBadContent, b)
		}
	case blockOpaque:
		e.present(kind, v[0].raw)
	default:
		body := e.open(kind)
		e.fields(&v)
		e.shut(body)
		e.extra(blockExtra, extra)
	}
}

// extra writes unknown fields of the native form, as repeated thresh.v1.Field. They travel because a block that a
// strategy returns unchanged must equal the host's to count as kept.
func (e *encoder) extra(num protowire.Number, extra content.Fields) {
	for _, f := range extra.All() {
		body := e.open(num)
		e.str(1, f.Name)
		e.raw(2, f.Value)
		e.shut(body)
	}
}

// blockAt writes block i as the field num, and names i if the block cannot be sent.
func (e *encoder) blockAt(num protowire.Number, i int, b content.Block) {
	before := e.err
	body := e.open(num)
	e.block(b)
	e.shut(body)
	if before == nil && e.err != nil {
		e.err = fmt.Errorf("block %d: %w", i, e.err)
	}
}

// content writes the body of a thresh.v1.Content. NoBlocks marks missing (nil) blocks: a repeated field cannot tell
// them from zero blocks, and the native form keeps the two apart.
func (e *encoder) content(c content.Content) {
	e.str(contentSpeaker, string(c.Speaker))
	for i, b := range c.Blocks {
		e.blockAt(contentBlocks, i, b)
	}
	e.raw(contentMetadata, c.Metadata)
	e.extra(contentExtra, c.Extra)
	if c.Blocks == nil {
		e.uint(contentNoBlocks, 1)
	}
}

// AppendContent writes the body of a thresh.v1.Content; c was decoded from one, so it cannot fail.
func AppendContent(dst []byte, c content.Content) []byte {
	e := encoder{buf: dst}
	e.content(c)
	return e.buf
}

// CopyContent decodes what AppendContent wrote into buf. The copy's texts refer to buf.
func CopyContent(buf []byte) (content.Content, error) { return decodeContent(buf, carryUnknown) }

// newBlock is the inverse of blockValues. The caller has checked kind, so the default is blockOpaque.
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
