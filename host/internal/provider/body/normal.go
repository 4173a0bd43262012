package body

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
)

// What an item means, as bytes to be hashed. Clients move cache markers, write members in another order, and a text
// alone or as a list of one part; none of this makes another conversation, so none of it may change the sum.

// hashDepth is how deep items are hashed member by member: the item, its content, a part, the part's content, and a
// part of that. Below, values are hashed as they stand.
const hashDepth = 6

// normaliser writes values into a hash so that what does not matter makes no difference.
type normaliser struct {
	form    form
	tape    *tape
	hash    hash.Hash
	small   []byte  // what is to be hashed: most writes are of a few bytes
	members []int32 // of the objects that are being written, one behind the other
}

func newNormaliser(f form, t *tape) *normaliser {
	return &normaliser{form: f, tape: t, hash: sha256.New()}
}

// item returns the sum of one item.
func (n *normaliser) item(node int32) (sum Sum) {
	n.value(node, hashDepth, true)
	n.hash.Write(n.small)
	n.hash.Sum(sum[:0])
	n.small = n.small[:0]
	n.hash.Reset()
	return sum
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

// separator writes what tells values apart: a few bytes.
func (n *normaliser) separator(text string) { n.small = append(n.small, text...) }

// value writes one value. Each kind has separators of its own, so that no two values are written alike. Objects of item
// level may hold their content as a text.
func (n *normaliser) value(i int32, depth int, item bool) {
	t := n.tape
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
		n.separator("{")
		for at := first; at < end; at++ {
			c := n.members[at] // by position: the values below write behind
			key := t.key(c)
			n.write(key)
			n.separator(`"`)
			if item && t.nodes[c].kind == '"' && string(key) == "content" {
				n.alone(i, c)
				continue
			}
			n.value(c, depth-1, false)
		}
		n.members = n.members[:first]
		n.separator("}")
	case kind == '[' && depth > 0:
		n.separator("[")
		for c := range t.children(i) {
			n.value(c, depth-1, false)
		}
		n.separator("]")
	default:
		n.write(t.text(i))
		n.separator(",")
	}
}

// alone writes the text of an item as the array of one part that it stands for. It must write exactly what value writes
// for that array, member by member.
func (n *normaliser) alone(item, text int32) {
	t := n.tape
	by := content.Human
	if t.is(t.get(item, "role"), n.form.Assistant) {
		by = content.AI
	}
	n.separator(`[{text"`)
	n.write(t.text(text))
	n.separator(`,type"` + `"` + n.form.TextType(by) + `",}]`)
}
