package wire

import "google.golang.org/protobuf/encoding/protowire"

// decodedPart is about what a part, an entry, a block or an unknown field takes in memory besides its texts, in bytes.
// An empty block takes four bytes on the wire: without this, megabytes of them would be charged for a fraction of what
// they cost.
const decodedPart = 128

// shape says which parts of a message take memory of their own.
type shape int

const (
	leaf shape = iota // nothing
	shapeEdit
	shapeReplace
	shapePiece
	shapeEdited
	shapeBlockPiece
	shapeContent
	shapeBlock
)

func (s shape) inside(field protowire.Number) (inner shape, weighs bool) {
	switch {
	case s == shapeEdit && field == editReplace:
		return shapeReplace, false
	case s == shapePiece && field == pieceEdited:
		return shapeEdited, false
	case s == shapePiece && field == pieceEntry:
		return shapeContent, false
	case s == shapeReplace && field == replaceBlocks, s == shapeEdited && field == editedBlocks:
		return shapeBlockPiece, true
	case s == shapeBlockPiece && field == pieceBlockNew:
		return shapeBlock, true
	case s == shapeContent && field == contentBlocks:
		return shapeBlock, true
	case s == shapeContent && field == contentExtra, s == shapeBlock && field == blockExtra:
		return leaf, true
	}
	return leaf, false
}

// weigh returns about what decoding a message adds to its bytes in memory. It allocates nothing, so a message that
// would take too much is refused first.
func weigh(msg []byte, s shape) int { return decodedPart + weighInside(msg, s) }

func weighInside(msg []byte, s shape) int {
	sum := 0
	for c := (cursor{rest: msg}); c.next(); {
		inner, weighs := s.inside(c.num)
		if weighs {
			sum += decodedPart
		}
		if inner != leaf && c.typ == protowire.BytesType {
			sum += weighInside(c.body, inner)
		}
	}
	return sum
}
