package rewrite

import (
	"encoding/json"
	"hash/maphash"
	"sort"

	"github.com/thresh-dev/thresh/sdk/content"
)

// BlockPieces says which of the original blocks are still in blocks, and which blocks are new. It takes the first
// match, in time proportional to the entry; a block that was moved ahead of others may be sent as new. It cannot know
// which of several equal blocks was meant: internal/check takes them for the same.
func BlockPieces(original, blocks []content.Block) []BlockPiece {
	pieces := make([]BlockPiece, len(blocks))
	next := 0
	var index blockIndex
	for i, b := range blocks {
		at := next
		if len(blocks) == len(original) {
			at = max(i, next) // of equal blocks, the one in the same place
		}
		if at >= len(original) || !content.Equal(original[at], b) { // most blocks are where they were
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

// Firsts returns for each block the position of the first one that equals it. It is linear in the blocks.
func Firsts(blocks []content.Block) []int {
	firsts, index := make([]int, len(blocks)), indexBlocks(blocks)
	for i, b := range blocks {
		firsts[i] = index.find(blocks, b, 0)
	}
	return firsts
}

// orNull writes a nil block as the null it is in the native form: nil in a BlockPiece means a kept block.
func orNull(b content.Block) content.Block {
	if b == nil {
		return content.Opaque{JSON: json.RawMessage("null")}
	}
	return b
}

// seed keeps hostile blocks from being made to collide.
var seed = maphash.MakeSeed()

type blockIndex map[uint64][]int

func indexBlocks(blocks []content.Block) blockIndex {
	index := make(blockIndex, len(blocks))
	for i, b := range blocks {
		h := hashBlock(b)
		index[h] = append(index[h], i)
	}
	return index
}

func (x blockIndex) find(blocks []content.Block, b content.Block, next int) int {
	positions := x[hashBlock(b)]
	for _, at := range positions[sort.SearchInts(positions, next):] {
		if content.Equal(blocks[at], b) {
			return at
		}
	}
	return -1
}

func hashBlock(b content.Block) uint64 {
	return maphash.Bytes(seed, content.AppendBlock(nil, b))
}
