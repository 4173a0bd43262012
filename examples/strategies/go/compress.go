package main

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// count returns what every entry counts once the squashed ones are in their place. Entries that did not change came with
// their counts, so that the host is asked for the others alone, and for all of them at once.
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

// oldest returns how many of the oldest entries must go, but for those that stay, so that the rest counts no more than
// target, and what the rest then counts. No response is parted from its call.
func oldest(history []sdk.Content, tokens []int, target float64) (cut, total int) {
	for _, n := range tokens {
		total += n
	}
	rest := total
	for cut < len(history) && float64(rest) > target {
		if !stays(history[cut]) {
			rest -= tokens[cut]
		}
		cut++
	}
	cut = turns.CutForward(history, cut)
	if cut == len(history) {
		cut = 0 // nothing but what people said would be left: rather let the host say that it does not fit
	}
	for i := range cut {
		if !stays(history[i]) {
			total -= tokens[i]
		}
	}
	return cut, total
}

// stays reports whether an entry is kept however old it is: what people said, and what nobody here understands.
func stays(entry sdk.Content) bool {
	return entry.Speaker != sdk.AI && entry.Speaker != sdk.Tool
}
