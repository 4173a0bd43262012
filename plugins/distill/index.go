package distill

import (
	"math"

	"github.com/thresh-dev/thresh/sdk"
)

// What an identifier is worth to later calls. What the AI itself used, it is likely to use again. What only results
// hold is worth more if several do: up to mostResults count. Age decides nothing: an old error or name may become the
// subject at any time, and that newer lines are chosen first is enough.
const (
	usedByAI, inResults = 1.0, 0.06
	mostResults         = 4
)

// index numbers the identifiers of a history.
type index struct {
	known map[string]int32
	items []item
}

// item is an identifier.
type item struct {
	last    int32 // the last entry that was found to hold it
	results int32 // how many entries of tools hold it
	ai      bool  // an entry of the AI does
	stays   bool  // it stands in an entry that stays as it is
}

// mention takes in that an entry holds an identifier, and returns the identifier's number. Entries come in any order,
// but all of one entry comes together, so what stands in it several times counts once.
func (x *index) mention(word string, entry int, by sdk.Speaker) int32 {
	id, ok := x.known[word]
	if !ok {
		id = int32(len(x.items))
		x.known[word] = id
		x.items = append(x.items, item{last: -1})
	}
	it := &x.items[id]
	if by == sdk.AI {
		it.ai = true
	} else if by == sdk.Tool && it.last != int32(entry) {
		it.results++
	}
	it.last = int32(entry)
	return id
}

// weight is what an identifier is worth, in the unit in which a price asks for value per token.
func (it *item) weight() float64 {
	if it.ai {
		return usedByAI
	}
	// The square root: the second result that holds an identifier says more than the fourth.
	return inResults * math.Sqrt(float64(min(it.results, mostResults)))
}
