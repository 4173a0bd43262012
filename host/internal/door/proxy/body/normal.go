package body

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Hashes of items. Clients move cache markers, write members in another order, and a text alone or as a list of one
// part; none of this makes another conversation, so none of it may change the sum.

// Sum identifies a beginning of a conversation. Sums of different APIs never agree, because the name of the API is
// hashed first.
type Sum [sha256.Size]byte

// hashDepth is how deep items are hashed member by member: the item, its content, a part, the part's content, and a
// part of that. Below, values are hashed as they stand.
const hashDepth = 6

// Chain returns a sum for each beginning of the conversation: the last is that of all items. Two requests with a common
// beginning have the same sums for it, also where a client has moved its cache marker or has written a text as an array
// of one part. It costs one SHA-256 of the items that were not taken over from another request, on all processors. Each
// item's sum is hashed with the one before it, so that a change in one item changes all that follow. The first call is
// not for several goroutines.
func (r *Request) Chain() []Sum {
	known := len(r.chain)
	if known == len(r.Items) {
		return r.chain
	}
	chain := make([]Sum, len(r.Items))
	copy(chain, r.chain)
	var next atomic.Int64
	next.Store(int64(known))
	// Each goroutine takes the next item that no other has, so that one large item holds up one goroutine only.
	work := func() {
		n := normaliser{request: r, hash: sha256.New()}
		for i := int(next.Add(1)) - 1; i < len(chain); i = int(next.Add(1)) - 1 {
			n.value(r.Items[i].node, hashDepth, true)
			n.sum(&chain[i])
		}
	}
	var group sync.WaitGroup
	// Starting others is worth it for what takes them longer than to start.
	if len(r.Raw)-r.Items[known].Start > 256<<10 {
		for range runtime.GOMAXPROCS(0) - 1 {
			group.Go(work)
		}
	}
	work()
	group.Wait()
	sum := Sum(sha256.Sum256([]byte(r.API)))
	if known > 0 {
		sum = chain[known-1]
	}
	var both [2 * len(sum)]byte
	for i := known; i < len(chain); i++ {
		copy(both[:], sum[:])
		copy(both[len(sum):], chain[i][:])
		sum = sha256.Sum256(both[:])
		chain[i] = sum
	}
	r.chain = chain
	return chain
}

// normaliser writes values into a hash so that what does not matter makes no difference.
type normaliser struct {
	request *Request
	hash    hash.Hash
	small   []byte  // what is to be hashed: most writes are of a few bytes
	members []int32 // of the objects that are being written, one behind the other
}

// sum gives the sum of what was written, and begins anew.
func (n *normaliser) sum(to *Sum) {
	n.hash.Write(n.small)
	n.hash.Sum(to[:0])
	n.small = n.small[:0]
	n.hash.Reset()
}

// write writes a text.
func (n *normaliser) write(text []byte) {
	const most = 512 // bytes, above which they are not worth a copy
	if len(n.small)+len(text) > most {
		n.hash.Write(n.small)
		n.small = n.small[:0]
	}
	if len(text) > most {
		n.hash.Write(text)
		return
	}
	n.small = append(n.small, text...)
}

// mark writes what tells values apart: a few bytes.
func (n *normaliser) mark(text string) { n.small = append(n.small, text...) }

// value writes one value. Each kind has marks of its own, so that no two values are written alike. Objects of item
// level may hold their content as a text.
func (n *normaliser) value(i int32, depth int, item bool) {
	t := n.request.tape
	switch kind := t.kind(i); {
	case kind == '{' && depth > 0:
		// Members are written in the order of their keys, because a client may write them in another order each time.
		first := len(n.members)
		for c := range t.children(i) {
			if string(t.key(c)) != "cache_control" {
				n.members = append(n.members, c)
			}
		}
		end := len(n.members)
		slices.SortStableFunc(n.members[first:end], func(a, b int32) int { return bytes.Compare(t.key(a), t.key(b)) })
		n.mark("{")
		for at := first; at < end; at++ {
			c := n.members[at] // by position: the values below write behind
			key := t.key(c)
			n.write(key)
			n.mark(`"`)
			if item && t.nodes[c].kind == '"' && string(key) == "content" {
				n.alone(i, c)
				continue
			}
			n.value(c, depth-1, false)
		}
		n.members = n.members[:first]
		n.mark("}")
	case kind == '[' && depth > 0:
		n.mark("[")
		for c := range t.children(i) {
			n.value(c, depth-1, false)
		}
		n.mark("]")
	default:
		n.write(t.text(i))
		n.mark(",")
	}
}

// alone writes the text of an item as the array of one part that it stands for. It must write exactly what value writes
// for that array, member by member.
func (n *normaliser) alone(item, text int32) {
	t := n.request.tape
	kind := `"text"`
	if n.request.API == Responses {
		kind = `"input_text"`
		if t.is(t.get(item, "role"), "assistant") {
			kind = `"output_text"`
		}
	}
	n.mark(`[{text"`)
	n.write(t.text(text))
	n.mark(`,type"` + kind + `,}]`)
}
