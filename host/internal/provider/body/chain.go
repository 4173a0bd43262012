package body

import "crypto/sha256"

// Sums of the beginnings of a conversation, by which a request finds what it goes on from.

// Sum identifies a beginning of a conversation. Sums of different APIs never agree, because the name of the API is
// hashed first.
type Sum [sha256.Size]byte

// Chain returns a sum for each beginning of the conversation: the last is that of all items. Two requests with a common
// beginning have the same sums for it, also where a client has moved its cache marker or has written a text as an array
// of one part. It costs one SHA-256 of the items. Each item's sum is hashed with the one before it, so that a change in
// one item changes all that follow. The first call is not for several goroutines.
func (r *Request) Chain() []Sum {
	if r.chain != nil {
		return r.chain
	}
	n := newNormaliser(r.form, r.tape)
	r.chain = make([]Sum, len(r.Items))
	sum := Sum(sha256.Sum256([]byte(r.API)))
	var both [2 * len(sum)]byte
	for i := range r.chain {
		item := n.item(r.Items[i].node)
		copy(both[:], sum[:])
		copy(both[len(sum):], item[:])
		sum = sha256.Sum256(both[:])
		r.chain[i] = sum
	}
	return r.chain
}
