package turns

import "github.com/thresh-dev/thresh/sdk/content"

// CutForward moves a cut to a safe place, with every call and its responses on the same side. at is the position of the
// first entry behind the cut.
//
// The cut moves forward, past entries of tools and past all pairs that it would part. If that runs off the end, it
// moves backward instead, to before the calls that the last entries answer. The result is in [0, len(history)]: 0 if
// there is no other safe place. A cut at or beyond either end is only brought into that range.
func CutForward(history []content.Content, at int) int {
	at, parted := prepareCut(history, at)
	if parted == nil {
		return at
	}
	for p := at; p < len(history); p++ {
		if safe(history, parted, p) {
			return p
		}
	}
	return backward(history, parted, at)
}

// CutBackward moves a cut as [CutForward] does, but always backward: what follows the cut only grows.
func CutBackward(history []content.Content, at int) int {
	at, parted := prepareCut(history, at)
	if parted == nil {
		return at
	}
	return backward(history, parted, at)
}

// SafeTail returns the last n entries, fewer if that would part a response from its call; more only if nothing would be
// left otherwise. Appending to the result does not touch history.
func SafeTail(history []content.Content, n int) []content.Content {
	from := len(history) - min(max(n, 0), len(history))
	return history[CutForward(history, from):len(history):len(history)]
}

// prepareCut brings at into range and counts the pairs that each cut parts; nil if at is at an end.
func prepareCut(history []content.Content, at int) (int, []int) {
	at = min(max(at, 0), len(history))
	if at == 0 || at == len(history) {
		return at, nil
	}
	pairs := Pair(history)
	parted := make([]int, len(history)+1)
	for i := range history {
		for _, partner := range pairs.blocks(i) {
			if partner != none && partner.Entry < i {
				parted[partner.Entry+1]++
				parted[i+1]--
			}
		}
	}
	for i := 1; i < len(parted); i++ {
		parted[i] += parted[i-1]
	}
	return at, parted
}

func safe(history []content.Content, parted []int, p int) bool {
	return parted[p] == 0 && history[p].Speaker != content.Tool
}

func backward(history []content.Content, parted []int, p int) int {
	for p > 0 && !safe(history, parted, p) {
		p--
	}
	return p
}
