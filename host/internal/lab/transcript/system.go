package transcript

import (
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

func (b *builder) isInstructions(blocks []content.Block) bool {
	// By text alone: fields of a block may differ between two requests.
	known := map[string]bool{}
	for _, block := range b.System {
		known[block.(content.Text).Text] = true
	}
	for _, block := range blocks {
		if text, ok := block.(content.Text); !ok || !known[text.Text] {
			return false
		}
	}
	return true
}

// systemBlocks reads a system prompt that is not a message: a string, or a list of text blocks. It leaves out other
// blocks with a note, because no provider takes them there.
func (b *builder) systemBlocks(line int, raw []byte) []content.Block {
	var out []content.Block
	for _, block := range b.messageContent(line, raw).Blocks {
		if _, ok := block.(content.Text); !ok {
			b.oddity(line, -1, "system block that is no text",
				"a system block of the kind %q is no text and was left out", ordered.Clip([]byte(block.Kind())))
			continue
		}
		out = append(out, block)
	}
	return out
}

// nativeSystem reads the field "system" of a native document: an array of text blocks, or one string. Anything else is
// an error.
func (b *builder) nativeSystem(d *document) error {
	f := d.top.Field("system")
	if rawjson.IsNull(f.Value) {
		return nil
	}
	if b.setSystem(f.Value) {
		return nil
	}
	return &Error{Line: d.lineAt(f.At), Offset: d.offset + int64(f.At), Entry: -1, Reason: ErrMalformed,
		Detail: noSystem(f.Value)}
}

func (b *builder) setSystem(raw []byte) bool {
	if text, ok := rawjson.Text(raw); ok {
		b.System = messages.One(content.Text{Text: text})
		return true
	}
	list, ok := ordered.Elements(raw)
	if !ok {
		return false
	}
	var blocks []content.Block
	for _, raw := range list {
		block := content.ParseBlock(raw)
		if _, text := block.(content.Text); !text {
			return false
		}
		blocks = append(blocks, block)
	}
	b.System = blocks
	return true
}

func noSystem(raw []byte) string {
	return "system is " + ordered.Clip(raw) + ", neither text nor a list of text blocks"
}

func isSystemLine(o ordered.Object) bool { return len(o) == 1 && o[0].Name == "system" }
