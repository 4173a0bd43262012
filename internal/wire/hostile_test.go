package wire

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/testkit/hostile"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Whatever a plugin answers, as a message or as the JSON in one, takes time in proportion.
func FuzzGrown(f *testing.F) {
	hostile.Fuzz(f, func(text string) {
		_, _ = DecodeEntry([]byte(text))
		_, _ = DecodePiece([]byte(text))
		_, _ = DecodeEdit([]byte(text))
		blocks := []content.Block{content.ToolResponse{CallID: "1", Result: []byte(text)}, content.Text{Text: text}}
		e := content.Content{Speaker: content.Tool, Blocks: blocks, Metadata: []byte(text)}
		_ = check.Content(e)
		var parts []byte
		w := NewWriter(func(part []byte) error { parts = append(parts, part...); return nil })
		if w.Entry("id", 7, e) == nil && w.Flush() == nil {
			_, _ = DecodeEntry(parts)
		}
	}, append([]hostile.Text{{Open: "\x1b"}, {Open: "\x12\x00"}, {Open: "\x1a\x00"}, {Open: "\x0b", Close: "\x0c"},
		{Open: "\x80"}, {Start: "\x0a\xff\xff\x03", Open: "\x12\x00"}}, hostile.JSON...)...)
}
