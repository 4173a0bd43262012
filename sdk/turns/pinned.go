package turns

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
)

// KeepLast returns what a Compress may keep of a history when it drops all but the last n entries: those, as [SafeTail]
// returns them, and before them the pinned entries, each with its whole exchange.
func KeepLast(history []content.Content, n int) []content.Content {
	tail := SafeTail(history, n)
	pinned := Pinned(history, 0, len(history)-len(tail))
	if len(pinned) == 0 {
		return tail
	}
	kept := make([]content.Content, 0, len(pinned)+len(tail))
	for _, i := range pinned {
		kept = append(kept, history[i])
	}
	return append(kept, tail...)
}

// Pinned returns the positions in [from, to) of the entries that a Compress must keep there, ascending: pinned ones
// ([content.Content.Pinned]), each with its whole exchange; nil if nothing is pinned. Both bounds must be safe cuts, so
// no exchange is on two sides of one.
func Pinned(history []content.Content, from, to int) (positions []int) {
	if !slices.ContainsFunc(history[from:to], content.Content.Pinned) {
		return nil
	}
	for _, x := range Exchanges(history[from:to], nil) {
		if slices.ContainsFunc(x.Entries, func(i int) bool { return history[from+i].Pinned() }) {
			for _, i := range x.Entries {
				positions = append(positions, from+i)
			}
		}
	}
	slices.Sort(positions) // exchanges may overlap
	return positions
}
