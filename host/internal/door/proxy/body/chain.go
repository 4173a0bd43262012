package body

import "crypto/sha256"

// Sums of the beginnings of a conversation, by which a request finds what it goes on from.

// Sum identifies a beginning of a conversation. Sums of different APIs never agree, because the name of the API is
// hashed first.
type Sum [sha256.Size]byte

// Chain returns a sum for each beginning of the conversation: the last is that of all items. Two requests with a common
// beginning have the same sums for it, also where a client has moved its cache marker or has written a text as an array
// of one part. It costs one SHA-256 of the items that were not taken over from another request, part of which may have
// been made while the body was read: see [Request.Next]. Each item's sum is hashed with the one before it, so that a
// change in one item changes all that follow. The first call is not for several goroutines.
func (r *Request) Chain() []Sum {
	known := len(r.chain)
	if known == len(r.Items) {
		return r.chain
	}
	// Of the items first, and then of the beginnings.
	chain, have := make([]Sum, len(r.Items)), make([]bool, len(r.Items))
	copy(chain, r.chain)
	if r.ahead != nil {
		for _, sums := range [][]itemSum{r.ahead.work(), <-r.ahead.sums} {
			for _, s := range sums {
				chain[s.item], have[s.item] = s.sum, true
			}
		}
	}
	n := newNormaliser(r.API, r.tape)
	sum := Sum(sha256.Sum256([]byte(r.API)))
	if known > 0 {
		sum = chain[known-1]
	}
	var both [2 * len(sum)]byte
	for i := known; i < len(chain); i++ {
		if !have[i] {
			chain[i] = n.item(r.Items[i].node)
		}
		copy(both[:], sum[:])
		copy(both[len(sum):], chain[i][:])
		sum = sha256.Sum256(both[:])
		chain[i] = sum
	}
	r.chain, r.ahead = chain, nil
	return chain
}

// ahead hashes items on a goroutine of its own while what follows them is still read. Items that were taken over from
// another request are none of its.
type ahead struct {
	api  API
	runs chan run       // closed when the body was read
	sums chan []itemSum // what the goroutine made, when it has ended
	next run            // what is collected for runs
}

// run is n items one behind the other, the first of which is at a position and has its nodes from first on. The tape is
// the body's as it was then: what is read later is behind its nodes, or in another array.
type run struct {
	tape  tape
	first int32
	at, n int
}

// itemSum is the sum of one item.
type itemSum struct {
	item int
	sum  Sum
}

// worthAhead is how many bytes must be new in a body for a goroutine to be worth its start.
const worthAhead = 256 << 10

// runBytes is about how much of a body one run has. Handing over each item would cost more than hashing a small one.
const runBytes = 32 << 10

// newAhead starts hashing the items of a body that has so many new bytes. The caller calls end.
func newAhead(api API, size int) *ahead {
	// Room for all runs: reading never waits for hashing.
	a := &ahead{api: api, runs: make(chan run, size/runBytes+1), sums: make(chan []itemSum, 1)}
	go func() {
		var sums []itemSum
		// Chain makes the sums that are missing, and meets what went wrong here where it costs one request.
		defer func() { _ = recover(); a.sums <- sums }()
		sums = a.work()
	}()
	return a
}

// read notes that the item at a position was read, whose nodes begin at first.
func (a *ahead) read(t *tape, first int32, at int) {
	if a.next.n == 0 {
		a.next = run{first: first, at: at}
	}
	a.next.n++
	if t.nodes[first].end-t.nodes[a.next.first].start >= runBytes {
		a.hand(t)
	}
}

// hand hands over what was collected.
func (a *ahead) hand(t *tape) {
	if a.next.n > 0 {
		a.next.tape = tape{raw: t.raw, nodes: t.nodes}
		a.runs <- a.next
		a.next = run{}
	}
}

// end says that no more items come.
func (a *ahead) end(t *tape) {
	a.hand(t)
	close(a.runs)
}

// work makes the sums of the runs that nobody else has taken, until there are no more.
func (a *ahead) work() (sums []itemSum) {
	n := newNormaliser(a.api, nil)
	for r := range a.runs {
		n.tape = &r.tape
		node := r.first
		for i := range r.n {
			sums = append(sums, itemSum{r.at + i, n.item(node)})
			node = r.tape.nodes[node].next
		}
	}
	return sums
}
