package client

import (
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/content"
)

// maxDepth bounds how deeply JSON in an answer is nested: a provider's library or an agent that reads the history later
// may recurse and overflow its stack. No tool nests a tenth of it.
const maxDepth = 1000

func boundDepth(deep int) error {
	if deep <= maxDepth {
		return nil
	}
	return fmt.Errorf("%w: it holds JSON that is nested %d deep, at most %d is allowed", fault.ErrBadAnswer, deep, maxDepth)
}

// depth returns how deeply JSON is nested in a part of an answer.
func depth(part any) int {
	switch p := part.(type) {
	case rewrite.Edit:
		return piecesDepth(p.Blocks)
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

// piecesDepth returns the deepest nesting in new blocks. Kept ones came from the host.
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
	p := content.Apart(b)
	deep := fieldsDepth(p.Extra)
	for i := range p.Fields {
		if p.Fields[i].JSON() {
			deep = max(deep, jsonDepth(p.JSON(i)))
		}
	}
	return deep
}

func fieldsDepth(fields content.Fields) int {
	deep := 0
	for _, f := range fields.All() {
		deep = max(deep, jsonDepth(f.Value))
	}
	return deep
}

// jsonDepth returns how deeply arrays and objects are nested. It only counts brackets outside of strings: the check of
// answers validates the JSON.
func jsonDepth(raw []byte) int {
	// Both kinds of brackets count together: only how deep a reader recurses matters.
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
