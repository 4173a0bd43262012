package wire

import (
	"encoding/json"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// genString makes strings of every kind: empty, ASCII, any Unicode, and now and then long ones.
func genString() *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), rapid.StringN(0, 12, -1), rapid.StringMatching(`[a-z_]{1,8}`))
}

func genRaw() *rapid.Generator[json.RawMessage] {
	return rapid.SampledFrom([]json.RawMessage{
		nil, json.RawMessage(`null`), json.RawMessage(`{"b":1.0,"a":1e400}`), json.RawMessage(`"ü\u0000"`),
		json.RawMessage(` [ ] `),
	})
}

func genFields() *rapid.Generator[content.Fields] {
	return rapid.Custom(func(t *rapid.T) content.Fields {
		n := rapid.IntRange(0, 2).Draw(t, "fields")
		var f []content.Field
		for range n {
			f = append(f, content.Field{Name: genString().Draw(t, "name"), Value: genRaw().Draw(t, "value")})
		}
		return content.FieldsOf(f...)
	})
}

func genBlock() *rapid.Generator[content.Block] {
	return rapid.Custom(func(t *rapid.T) content.Block {
		s := func() string { return genString().Draw(t, "s") }
		raw := func() json.RawMessage { return genRaw().Draw(t, "raw") }
		extra := genFields().Draw(t, "extra")
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return content.Text{Text: s(), Extra: extra}
		case 1:
			return content.ToolCall{ID: s(), Name: s(), Parameters: raw(), Extra: extra}
		case 2:
			return content.ToolResponse{CallID: s(), ToolName: s(), Result: raw(), Error: s(), Extra: extra}
		case 3:
			return content.Media{MimeType: s(), Data: s(), Encoding: s(), Caption: s(), Filename: s(), Extra: extra}
		case 4:
			return content.Thinking{Thought: s(), Signature: s(), Extra: extra}
		case 5:
			return content.Code{Code: s(), Language: s(), Extra: extra}
		default:
			return content.Opaque{JSON: raw()}
		}
	})
}

func genContent() *rapid.Generator[content.Content] {
	return rapid.Custom(func(t *rapid.T) content.Content {
		c := content.Content{
			Speaker: content.Speaker(rapid.SampledFrom([]string{"human", "ai", "tool", "", "critic"}).Draw(t,
				"speaker")),
			Metadata: genRaw().Draw(t, "metadata"),
			Extra:    genFields().Draw(t, "extra"),
		}
		if !rapid.Bool().Draw(t, "no blocks") {
			c.Blocks = rapid.SliceOfN(genBlock(), 0, 4).Draw(t, "blocks")
		}
		return c
	})
}

func genReason() *rapid.Generator[sdk.Reason] {
	return rapid.Custom(func(t *rapid.T) sdk.Reason {
		r := sdk.Reason{Rule: rapid.StringMatching(`[a-z0-9-]{0,64}`).Draw(t, "rule")}
		if rapid.Bool().Draw(t, "superseded") {
			r.SupersededBy = new(rapid.IntRange(0, 1<<40).Draw(t, "by"))
		}
		return r
	})
}

func genBlockPieces() *rapid.Generator[[]rewrite.BlockPiece] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) rewrite.BlockPiece {
		if rapid.Bool().Draw(t, "keep") {
			return rewrite.BlockPiece{Keep: rapid.IntRange(0, 300).Draw(t, "at")}
		}
		return rewrite.BlockPiece{Block: genBlock().Draw(t, "block")}
	}), 0, 4)
}

// The same things as generated messages, built the plain way.

func pbContent(c content.Content) *threshv1.Content {
	out := &threshv1.Content{Speaker: string(c.Speaker), Metadata: c.Metadata, Extra: pbFields(c.Extra),
		NoBlocks: c.Blocks == nil}
	for _, b := range c.Blocks {
		out.Blocks = append(out.Blocks, pbBlock(b))
	}
	return out
}

func pbFields(f content.Fields) []*threshv1.Field {
	var out []*threshv1.Field
	for _, field := range f.All() {
		out = append(out, &threshv1.Field{Name: field.Name, Value: field.Value})
	}
	return out
}

func pbBlock(b content.Block) *threshv1.Block {
	switch b := b.(type) {
	case content.Text:
		return &threshv1.Block{Extra: pbFields(b.Extra), Kind: &threshv1.Block_Text{Text: &threshv1.Text{Text: b.Text}}}
	case content.ToolCall:
		return &threshv1.Block{Extra: pbFields(b.Extra),
			Kind: &threshv1.Block_ToolCall{ToolCall: &threshv1.ToolCall{Id: b.ID, Name: b.Name,
				Parameters: b.Parameters}}}
	case content.ToolResponse:
		return &threshv1.Block{Extra: pbFields(b.Extra),
			Kind: &threshv1.Block_ToolResponse{ToolResponse: &threshv1.ToolResponse{CallId: b.CallID,
				ToolName: b.ToolName,
				Result:   b.Result, Error: b.Error}}}
	case content.Media:
		return &threshv1.Block{Extra: pbFields(b.Extra),
			Kind: &threshv1.Block_Media{Media: &threshv1.Media{MimeType: b.MimeType, Data: b.Data, Encoding: b.Encoding,
				Caption: b.Caption, Filename: b.Filename}}}
	case content.Thinking:
		return &threshv1.Block{Extra: pbFields(b.Extra),
			Kind: &threshv1.Block_Thinking{Thinking: &threshv1.Thinking{Thought: b.Thought, Signature: b.Signature}}}
	case content.Code:
		return &threshv1.Block{Extra: pbFields(b.Extra), Kind: &threshv1.Block_Code{Code: &threshv1.Code{Code: b.Code,
			Language: b.Language}}}
	case content.Opaque:
		return &threshv1.Block{Kind: &threshv1.Block_Opaque{Opaque: b.JSON}}
	}
	panic(fmt.Sprintf("no block: %T", b))
}

func pbBlockPieces(pieces []rewrite.BlockPiece) []*threshv1.BlockPiece {
	var out []*threshv1.BlockPiece
	for _, p := range pieces {
		if p.Block == nil {
			out = append(out, &threshv1.BlockPiece{Piece: &threshv1.BlockPiece_Keep{Keep: uint64(p.Keep)}})
		} else {
			out = append(out, &threshv1.BlockPiece{Piece: &threshv1.BlockPiece_Block{Block: pbBlock(p.Block)}})
		}
	}
	return out
}

// session is a made history of n entries of about 880 bytes: calls, results, and words.
func session(n int) []content.Content {
	history := make([]content.Content, n)
	for i := range history {
		id := fmt.Sprintf("call-%d", i/3)
		var c content.Content
		switch i % 3 {
		case 0:
			c = content.Content{Speaker: content.AI, Blocks: []content.Block{
				content.Text{Text: strings.Repeat("let me look at this file ", 8)},
				content.ToolCall{ID: id, Name: "read_file",
					Parameters: json.RawMessage(fmt.Sprintf(`{"path":"src/file%d.go","n":%d}`, i%50, i))},
			}}
		case 1:
			c = content.Content{Speaker: content.Tool, Blocks: []content.Block{
				content.ToolResponse{CallID: id, ToolName: "read_file",
					Result: content.String(strings.Repeat("x := compute(a, b) // line\n", 70))},
			}}
		default:
			c = content.Content{Speaker: content.Human,
				Blocks: []content.Block{content.Text{Text: strings.Repeat("now do the next thing ", 20)}}}
		}
		c.Metadata = json.RawMessage(`{"timestamp":1720000000000}`)
		history[i] = c
	}
	return history
}
