package main

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// count returns the tokens of every entry, with the squashed entries in place of the original ones. Entries that did
// not change came with their counts. The host counts the others, in one call: each call is a round trip to its process.
func count(ctx context.Context, host sdk.Host, in sdk.CompressInput, squashed map[int]sdk.Content) ([]int, error) {
	tokens := make([]int, len(in.History))
	var entries []sdk.Content
	var positions []int
	for i := range in.History {
		if entry, ok := squashed[i]; ok {
			entries, positions = append(entries, entry), append(positions, i)
		} else {
			tokens[i] = in.Tokens(i, i+1)
		}
	}
	if len(entries) == 0 {
		return tokens, nil
	}
	counts, err := host.EstimateTokens(ctx, entries)
	if err != nil {
		return nil, fmt.Errorf("counting squashed outputs: %w", err)
	}
	for n, i := range positions {
		tokens[i] = counts[n]
	}
	return tokens, nil
}

// oldest returns the position before which entries are removed, except those that stay, so that the rest has at most
// target tokens; and the tokens of that rest. The cut never separates a response from its call: a provider would refuse
// the history. A cut of 0 means that nothing is removed.
func oldest(history []sdk.Content, tokens []int, stays []bool, target float64) (cut, total int) {
	for _, n := range tokens {
		total += n
	}
	rest := total
	for cut < len(history) && float64(rest) > target {
		if !stays[cut] {
			rest -= tokens[cut]
		}
		cut++
	}
	// Forward, so that not more than the target stays; a cut that moved back would miss it.
	cut = turns.CutForward(history, cut)
	if cut == len(history) {
		cut = 0 // only what the user said would be left: better let the host report that the history does not fit
	}
	for i := range cut {
		if !stays[i] {
			total -= tokens[i]
		}
	}
	return cut, total
}

// staying says of each entry whether it is kept however old it is: what the user said, entries of unknown speakers,
// which this strategy must not judge, and pinned ones with all that belongs to them.
func staying(history []sdk.Content) []bool {
	stays := make([]bool, len(history))
	for i, entry := range history {
		stays[i] = entry.Speaker != sdk.AI && entry.Speaker != sdk.Tool
	}
	for _, i := range turns.Pinned(history, 0, len(history)) {
		stays[i] = true
	}
	return stays
}
