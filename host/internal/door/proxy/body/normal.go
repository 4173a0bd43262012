package body

import (
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
			n.hash.Reset()
			n.value(r.Items[i].node, hashDepth, true)
			n.hash.Sum(chain[i][:0])
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
	for i := known; i < len(chain); i++ {
		sum = sha256.Sum256(append(sum[:], chain[i][:]...))
		chain[i] = sum
	}
	r.chain = chain
	return chain
}

// normaliser writes values into a hash so that what does not matter makes no difference.
type normaliser struct {
	request *Request
	hash    hash.Hash
	members [32]int32 // reused: most objects are small
}

// value hashes one value. Each kind has marks of its own, so that no two values are written alike. Objects of item
// level may hold their content as a text.
func (n *normaliser) value(i int32, depth int, item bool) {
	t := n.request.tape
	switch kind := t.kind(i); {
	case kind == '{' && depth > 0:
		// Members are hashed in the order of their keys, because a client may write them in another order each time.
		members := n.members[:0]
		for c := range t.children(i) {
			if string(t.raw[t.nodes[c].key:t.nodes[c].keyEnd]) != "cache_control" {
				members = append(members, c)
			}
		}
		// The buffer is used again by the values below.
		members = slices.Clone(members)
		slices.SortStableFunc(members, func(a, b int32) int {
			return slices.Compare(t.raw[t.nodes[a].key:t.nodes[a].keyEnd], t.raw[t.nodes[b].key:t.nodes[b].keyEnd])
		})
		n.hash.Write([]byte{'{'})
		for _, c := range members {
			key := t.raw[t.nodes[c].key:t.nodes[c].keyEnd]
			n.hash.Write(key)
			n.hash.Write([]byte{'"'})
			if item && t.nodes[c].kind == '"' && string(key) == "content" {
				n.alone(i, c)
				continue
			}
			n.value(c, depth-1, false)
		}
		n.hash.Write([]byte{'}'})
	case kind == '[' && depth > 0:
		n.hash.Write([]byte{'['})
		for c := range t.children(i) {
			n.value(c, depth-1, false)
		}
		n.hash.Write([]byte{']'})
	default:
		n.hash.Write(t.text(i))
		n.hash.Write([]byte{','})
	}
}

// alone hashes the text of an item as the array of one part that it stands for. It must write exactly what value writes
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
	n.hash.Write([]byte(`[{text"`))
	n.hash.Write(t.text(text))
	n.hash.Write([]byte(`,type"` + kind + `,}]`))
}
