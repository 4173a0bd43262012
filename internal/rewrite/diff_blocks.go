package rewrite

import (
	"encoding/json"
	"hash/maphash"
	"sort"

	"github.com/thresh-dev/thresh/sdk/content"
)

// BlockPieces says which of the original blocks stand in blocks, in their order, and which blocks are new. It takes the
// first one that fits, so that the time is proportional to the entry; a block that was moved ahead of others may be
// sent as new. Which of equal blocks was meant, it cannot know: whoever judges an answer takes them for the same.
func BlockPieces(original, blocks []content.Block) []BlockPiece {
	pieces := make([]BlockPiece, len(blocks))
	next := 0 // the first original block that may still be kept
	var index blockIndex
	for i, b := range blocks {
		at := next
		if len(blocks) == len(original) {
			at = max(i, next) // of equal blocks, the one in the same place: a block before it was replaced
		}
		if at >= len(original) || !content.Equal(original[at], b) { // mostly a block stands where it stood
			if index == nil {
				index = indexBlocks(original)
			}
			at = index.find(original, b, next)
		}
		if at < 0 {
			pieces[i] = BlockPiece{Block: orNull(b)}
			continue
		}
		pieces[i] = BlockPiece{Keep: at}
		next = at + 1
	}
	return pieces
}

// Firsts returns for each block the position of the first one that equals it, in time proportional to the blocks.
func Firsts(blocks []content.Block) []int {
	firsts, index := make([]int, len(blocks)), indexBlocks(blocks)
	for i, b := range blocks {
		firsts[i] = index.find(blocks, b, 0)
	}
	return firsts
}

// orNull makes of a missing block what it is in the native form: in a BlockPiece nil has another meaning.
func orNull(b content.Block) content.Block {
	if b == nil {
		return content.Opaque{JSON: json.RawMessage("null")}
	}
	return b
}

// seed keeps hostile blocks from being made to collide.
var seed = maphash.MakeSeed()

// blockIndex holds the ascending positions of blocks by hash.
type blockIndex map[uint64][]int

// indexBlocks hashes every block once. It is called at the first block that does not stand where it stood: an entry
// that keeps all its blocks needs no index.
func indexBlocks(blocks []content.Block) blockIndex {
	index := make(blockIndex, len(blocks))
	for i, b := range blocks {
		h := hashBlock(b)
		index[h] = append(index[h], i)
	}
	return index
}

// find returns the first position from next on at which b stands, -1 if there is none.
func (x blockIndex) find(blocks []content.Block, b content.Block, next int) int {
	positions := x[hashBlock(b)]
	for _, at := range positions[sort.SearchInts(positions, next):] {
		if content.Equal(blocks[at], b) {
			return at
		}
	}
	return -1
}

// hashBlock covers all of a block. Blocks that are written alike only share a hash; find compares them.
func hashBlock(b content.Block) uint64 {
	return maphash.Bytes(seed, content.AppendBlock(nil, b))
}
