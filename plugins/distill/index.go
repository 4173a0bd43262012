package main

import (
	"math"
	"strings"
)

// What identifiers are worth, in the unit in which a price asks for value per token.
const (
	// usedByAI is what an identifier is worth that the AI itself used once, just now. It grows with the root of how
	// often that was, up to mostUses, and falls with age to the power of usedAging.
	usedByAI, mostUses, usedAging = 1.0, 12, 0.5
	// inResults is the same for an identifier that only results hold. It hardly loses with age: an old error or name may
	// become the subject at any time. inResultsAge is in thousands of tokens.
	inResults, mostResults, inResultsAge = 0.1, 4, 100.0
)

// factors for identifiers that only results hold, by kind: most of what tools print is never used.
var ofKind = [...]float64{name: 1, path: 0.4, number: 0.1, quote: 0.4}

// index numbers the identifiers and lines of a history, and weighs what each identifier is worth to later calls.
type index struct {
	known map[string]int32
	items []item
}

// item is an identifier or a line.
type item struct {
	kind    kind
	factor  float64 // of an identifier that the AI used: less for what looks like a number or like prose
	last    int32   // the last entry that holds it; -1: none
	ai, res int32   // how many entries of the AI and of tools hold it
	weight  float64 // 0 for lines
	// stays: it stands in an entry that stays as it is.
	stays bool
	// replaced is 1 + the last entry whose edit took the line out of its file.
	replaced int32
}

// id returns the number of an identifier.
func (x *index) id(s string, k kind) int32 {
	id, ok := x.known[s]
	if !ok {
		id = int32(len(x.items))
		x.known[s] = id
		it := item{kind: k, factor: 1, last: -1}
		if s[0] >= '0' && s[0] <= '9' {
			it.factor *= 0.5
		}
		if strings.IndexByte(s, ' ') >= 0 {
			it.factor *= 0.6
		}
		x.items = append(x.items, it)
	}
	return id
}

// line returns the number of a line of a file, -1 for one that says too little to be told from others. Identifiers have
// no line breaks, so that a line is none of them.
func (x *index) line(s string) int32 {
	if s = strings.TrimSpace(s); len(s) <= shortLine {
		return -1
	}
	return x.id("\n"+s, name)
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

// replace takes in that the edit in an entry took lines out of a file: they need not be kept any longer.
func (x *index) replace(entry int, old string) {
	for line := range strings.Lines(old) {
		if id := x.line(line); id >= 0 {
			x.items[id].replaced = int32(entry + 1)
		}
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
			it.weight = usedByAI * it.factor * math.Sqrt(float64(min(it.ai, mostUses))) *
				math.Pow(1+age[it.last], -usedAging)
		default:
			it.weight = inResults * ofKind[it.kind] * math.Pow(float64(min(it.res, mostResults)), 0.8) /
				(1 + age[it.last]/inResultsAge)
		}
	}
}
