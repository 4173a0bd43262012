package wire

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
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
		number := rapid.IntRange(1, len(content.KindNames())+1).Draw(t, "kind") // opaque ones have no name
		p := content.Parts{Kind: content.KindNumbered(uint64(number)), Extra: genFields().Draw(t, "extra")}
		for i, f := range p.Fields {
			if f.JSON() {
				p.Values[i] = string(genRaw().Draw(t, f.Name))
			} else {
				p.Values[i] = genString().Draw(t, f.Name)
			}
		}
		return p.Block()
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
	p, out := content.Apart(b), &threshv1.Block{}
	out.Extra = pbFields(p.Extra)
	block := out.ProtoReflect()
	kind := block.Descriptor().Fields().ByNumber(protowire.Number(p.Number))
	if kind.Message() == nil {
		block.Set(kind, protoreflect.ValueOf([]byte(p.JSON(0))))
		return out
	}
	body := block.Mutable(kind).Message()
	for i, f := range p.Fields {
		value := protoreflect.ValueOf(p.Values[i])
		if f.JSON() {
			value = protoreflect.ValueOf([]byte(p.JSON(i)))
		}
		body.Set(body.Descriptor().Fields().ByJSONName(f.Name), value)
	}
	return out
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
