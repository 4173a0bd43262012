package body

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/sdk/content"
)

// What an item means, as bytes to be hashed. Clients move cache markers, write members in another order, escape other
// characters, and write a text, also that of a result, alone or as a list of one part; none of this makes another
// conversation, so none of it may change the sum.

// normaliser writes values into a hash so that what does not matter makes no difference.
type normaliser struct {
	form    form
	results []*provider.Kind // rows of results that may be texts
	tape    *tape
	hash    hash.Hash
	small   []byte  // what is to be hashed: most writes are of a few bytes
	members []int32 // of the objects that are being written, one behind the other
}

func newNormaliser(f form, t *tape) *normaliser {
	n := &normaliser{form: f, tape: t, hash: sha256.New()}
	for _, rows := range [][]provider.Kind{f.Parts, f.Items} {
		for i := range rows {
			if rows[i].Is == Response && f.Wrap == "" {
				n.results = append(n.results, &rows[i])
			}
		}
	}
	return n
}

// item returns the sum of one item.
func (n *normaliser) item(node int32) (sum Sum) {
	n.value(node, itemLevel)
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

// level is where a value stands: an item, the list of its parts, one of these, the arguments of a call, which are data
// whatever their names, or anything else.
type level byte

const (
	anyLevel level = iota
	itemLevel
	listLevel
	partLevel
	dataLevel
)

// value writes one value. Each kind has separators of its own, so that no two values are written alike. What is nested
// deeper than the tape tells apart is written as it stands.
func (n *normaliser) value(i int32, at level) {
	t := n.tape
	switch kind := t.kind(i); kind {
	case '{':
		// Members are written in the order of their keys, because a client may write them in another order each time.
		first := len(n.members)
		for c := range t.children(i) {
			if at == dataLevel || string(t.key(c)) != "cache_control" {
				n.members = append(n.members, c)
			}
		}
		end := len(n.members)
		slices.SortStableFunc(n.members[first:end], func(a, b int32) int { return bytes.Compare(t.key(a), t.key(b)) })
		n.separator("{")
		for m := first; m < end; m++ {
			c := n.members[m] // by position: the values below write behind
			key := t.key(c)
			n.write(key)
			n.separator(`"`)
			switch {
			case t.kind(c) == '"' && n.holds(i, string(key), at):
				n.alone(i, c, at)
			case at == itemLevel && string(key) == n.form.Content:
				n.value(c, listLevel)
			case at == dataLevel, at == partLevel && string(key) == "input":
				n.value(c, dataLevel)
			default:
				n.value(c, anyLevel)
			}
		}
		n.members = n.members[:first]
		n.separator("}")
	case '[':
		below := anyLevel
		switch at {
		case listLevel:
			below = partLevel
		case dataLevel:
			below = dataLevel
		}
		n.separator("[")
		for c := range t.children(i) {
			n.value(c, below)
		}
		n.separator("]")
	case '"':
		n.text(i)
		n.separator(",")
	default:
		n.write(t.text(i))
		n.separator(",")
	}
}

// holds reports whether a member of an object that is a text may as well be a list of one part: what a message says,
// and the result of a tool.
func (n *normaliser) holds(i int32, key string, at level) bool {
	if at != itemLevel && at != partLevel {
		return false
	}
	return at == itemLevel && key == "content" || slices.ContainsFunc(n.results, func(k *provider.Kind) bool {
		return k.Value == key && n.tape.is(n.tape.get(i, "type"), k.Type)
	})
}

// text writes a string as [content.String] would, whatever of it is escaped.
func (n *normaliser) text(i int32) {
	text := n.tape.text(i)
	if !usual(text) {
		text = content.String(n.tape.str(i))
	}
	n.write(text)
}

// usual reports whether a string has only escapes that [content.String] writes.
func usual(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return true
		}
		switch text[i+1] {
		case 'u', '/', 'b', 'f':
			return false
		}
		text = text[i+2:]
	}
}

// alone writes a text as the array of one part that it stands for. It must write exactly what value writes for that
// array, member by member.
func (n *normaliser) alone(item, text int32, at level) {
	t := n.tape
	by := content.Human
	if at == itemLevel && t.is(t.get(item, "role"), n.form.Assistant) {
		by = content.AI
	}
	n.separator(`[{text"`)
	n.text(text)
	n.separator(`,type"` + `"` + n.form.TextType(by) + `",}]`)
}
