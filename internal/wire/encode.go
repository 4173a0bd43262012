package wire

import (
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

	blockExtra = 15
)

// block writes the body of a thresh.v1.Block. Anything but the plain values of the model's seven kinds, for example a
// pointer, is refused with [ErrBadContent].
func (e *encoder) block(b content.Block) {
	p := content.Apart(b)
	switch {
	case p.Number == 0:
		if e.err == nil {
			e.err = fmt.Errorf("%w: it is a %T; use the plain value of one of content's seven kinds", ErrBadContent, b)
		}
	case p.Type == "": // an opaque block is no message
		e.present(protowire.Number(p.Number), p.JSON(0))
	default:
		body := e.open(protowire.Number(p.Number))
		for i := range p.Fields {
			if p.Fields[i].JSON() {
				e.raw(protowire.Number(i+1), p.JSON(i))
			} else {
				e.str(protowire.Number(i+1), p.Values[i])
			}
		}
		e.shut(body)
		e.extra(blockExtra, p.Extra)
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
