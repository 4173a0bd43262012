package main

import "math"

// What identifiers are worth, in the unit in which a price asks for value per token.
const (
	// usedByAI is what an identifier is worth that the AI itself used once, just now. It grows with the root of how
	// often that was, up to mostUses, and falls with age to the power of usedAging.
	usedByAI, mostUses, usedAging = 1.0, 12, 0.5
	// inResults is the same for an identifier that only results hold. It does not fall: an old error or name may become
	// the subject at any time.
	inResults, mostResults = 0.06, 4
)

// index numbers the identifiers of a history, and weighs what each is worth to later calls.
type index struct {
	known map[string]int32
	items []item
}

// item is an identifier.
type item struct {
	last    int32 // the last entry that holds it; -1: none
	ai, res int32 // how many entries of the AI and of tools hold it
	weight  float64
	// stays: it stands in an entry that stays as it is.
	stays bool
}

// id returns the number of an identifier.
func (x *index) id(s string) int32 {
	id, ok := x.known[s]
	if !ok {
		id = int32(len(x.items))
		x.known[s] = id
		x.items = append(x.items, item{last: -1})
	}
	return id
}

// mention takes in that an entry holds an identifier, once per entry.
func (x *index) mention(id int32, entry int, ai bool) {
	it := &x.items[id]
	if it.last == int32(entry) {
		return
	}
	it.last = int32(entry)
	if ai {
		it.ai++
	} else {
		it.res++
	}
}

// weigh computes the weights. age is how many thousands of tokens stand behind an entry. What the AI used is likely to
// be used again, the more often and the more recently it was used.
func (x *index) weigh(age []float64) {
	for i := range x.items {
		it := &x.items[i]
		switch {
		case it.last < 0:
		case it.ai > 0:
			it.weight = usedByAI * math.Sqrt(float64(min(it.ai, mostUses))) *
				math.Pow(1+age[it.last], -usedAging)
		default:
			it.weight = inResults * math.Sqrt(float64(min(it.res, mostResults)))
		}
	}
}
