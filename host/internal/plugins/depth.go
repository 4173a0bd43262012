package plugins

import (
	"fmt"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
)

// bounded is decode, and refuses what holds JSON that is nested deeper than most. Whoever reads the history later may read it
// with a library that recurses.
func bounded[T any](decode func([]byte) (T, error), depth func(T) int, most int) func([]byte) (T, error) {
	return func(raw []byte) (T, error) {
		v, err := decode(raw)
		if err != nil {
			return v, err
		}
		if deep := depth(v); deep > most {
			return v, fmt.Errorf("%w: it holds JSON that is nested %d deep, at most %d is allowed (plugins.maxJsonDepth)", ErrBadAnswer, deep, most)
		}
		return v, nil
	}
}

func editDepth(e rewrite.Edit) int { return piecesDepth(e.Blocks) }

func pieceDepth(p rewrite.Piece) int {
	switch p := p.(type) {
	case rewrite.Edited:
		return piecesDepth(p.Blocks)
	case rewrite.Added:
		deep := max(jsonDepth(p.Content.Metadata), fieldsDepth(p.Content.Extra))
		for _, b := range p.Content.Blocks {
			deep = max(deep, blockDepth(b))
		}
		return deep
	default:
		return 0
	}
}

func piecesDepth(pieces []rewrite.BlockPiece) int {
	deep := 0
	for _, p := range pieces {
		if p.Block != nil {
			deep = max(deep, blockDepth(p.Block))
		}
	}
	return deep
}

func blockDepth(b content.Block) int {
	switch b := b.(type) {
	case content.ToolCall:
		return max(jsonDepth(b.Parameters), fieldsDepth(b.Extra))
	case content.ToolResponse:
		return max(jsonDepth(b.Result), fieldsDepth(b.Extra))
	case content.Text:
		return fieldsDepth(b.Extra)
	case content.Media:
		return fieldsDepth(b.Extra)
	case content.Thinking:
		return fieldsDepth(b.Extra)
	case content.Code:
		return fieldsDepth(b.Extra)
	case content.Opaque:
		return jsonDepth(b.JSON)
	default:
		return 0
	}
}

func fieldsDepth(fields content.Fields) int {
	deep := 0
	for _, f := range fields {
		deep = max(deep, jsonDepth(f.Value))
	}
	return deep
}

// jsonDepth is how deep arrays and objects are nested in one another.
func jsonDepth(raw []byte) int {
	depth, deepest := 0, 0
	inText := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}
