package body

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// The index of a body. JSON is checked in one pass, strictly, and what is found are positions in the client's bytes;
// values are decoded only when they are asked for.

// The bounds of what is read. A body beyond them is forwarded as it came.
const (
	// maxNodes bounds the values of a body that are told apart, however large it is. The largest real bodies (4 MB) have
	// some ten thousand: one for each 400 bytes. fewNodes are those that any body may have, and more come one to
	// nodeBytes: a turn takes memory for each value, and so none takes more than about 20 times its body.
	maxNodes, fewNodes, nodeBytes = 1 << 20, 50_000, 30
	// maxDepth is how deep values are told apart. What is nested deeper is checked, but is one value. No API has a
	// field that matters here below the eighth level; arguments of tools may be deeper.
	maxDepth = 16
)

// ErrValues: a body has more values than a conversation of its size. errUTF8 and errSize are why others are not read.
var (
	ErrValues = fmt.Errorf("more values than a conversation has: at most %d, and one more for each %d bytes", fewNodes,
		nodeBytes)
	errUTF8 = errors.New("the body is not UTF-8")
	errSize = errors.New("the body has 2 GiB or more")
)

// Span is a range of a body's bytes: from Start up to, but not including, End.
type Span struct{ Start, End int }

// Empty reports whether the span has no bytes. No JSON value has an empty span.
func (s Span) Empty() bool { return s.Start == s.End }

// node is one value. The nodes of a body are in the order in which the values begin, so that the subtree of node i is
// the nodes from i up to next. 32-bit positions halve its size; a body of 2 GiB is refused for that.
type node struct {
	// The key's name without quotes, undecoded; both 0 for elements of arrays.
	key, keyEnd int32
	start, end  int32
	next        int32 // the first node behind the subtree
	kind        byte  // '{', '[', '"', 't', 'f', 'n', '0'; nested below maxDepth: '~'
}

// tape is a body as nodes. Nothing of the body is copied. It holds as long as the body's bytes do not change.
type tape struct {
	raw   []byte
	nodes []node
	// odd is set when an object that was asked for a field has the field twice, or a name with escapes. What a provider
	// makes of such a body is not known, so that it must not be edited.
	odd bool
}

// none is the node that is not there.
const none = int32(-1)

// parse reads a body. The error says what is wrong with the JSON, or which bound is exceeded. skip are members of the
// top level whose values are checked but not told apart.
func parse(raw []byte, skip []string) (*tape, error) {
	if len(raw) > math.MaxInt32 {
		return nil, errSize
	}
	t := &tape{raw: raw, nodes: make([]node, 0, 256+len(raw)/256)}
	p := parser{tape: t, most: min(maxNodes, fewNodes+len(raw)/nodeBytes), scan: rawjson.New(raw), skip: skip}
	if err := p.value(0, 0, 0); err != nil {
		return nil, err
	}
	if !p.scan.UTF8() {
		return nil, errUTF8
	}
	return t, p.scan.Rest()
}

// parser is the state of one parse.
type parser struct {
	*tape
	most int // values
	// scan checks the JSON as it passes over it: what is not told apart is still validated.
	scan *rawjson.Scanner
	skip []string
}

// value reads one value and everything below it. It recurses at most maxDepth times.
func (p *parser) value(depth int, key, keyEnd int32) error {
	if len(p.nodes) >= p.most {
		return ErrValues
	}
	i := int32(len(p.nodes))
	kind := p.scan.Kind()
	n := node{key: key, keyEnd: keyEnd, start: int32(p.scan.Offset()), kind: kind}
	if len(p.nodes) == cap(p.nodes) {
		p.grow(int(n.start))
	}
	// By position and not by pointer: the slice may move while children are appended.
	p.nodes = append(p.nodes, n)
	err := error(nil)
	switch {
	case depth < maxDepth && kind == '{' && !p.skipped(depth, key, keyEnd):
		err = p.scan.Object(func([]byte) error { return p.member(depth) })
	case depth < maxDepth && kind == '[' && !p.skipped(depth, key, keyEnd):
		err = p.scan.Array(func(int) error { return p.value(depth+1, 0, 0) })
	default:
		if kind == '{' || kind == '[' {
			p.nodes[i].kind = '~'
		} else if kind == '-' || '0' <= kind && kind <= '9' {
			p.nodes[i].kind = '0'
		}
		_, err = p.scan.Skip()
	}
	p.nodes[i].end = n.start + int32(len(p.scan.Since(int(n.start))))
	p.nodes[i].next = int32(len(p.nodes))
	return err
}

// grow makes room for more nodes, of which there are as many as there will be up to a position. If the rest of the body
// is like what was read, it is room for all: a large slice that is only appended to is copied for each fourth more.
func (p *parser) grow(at int) {
	have := len(p.nodes)
	all := float64(have) * float64(len(p.raw)) / float64(max(at, 1))
	p.nodes = slices.Grow(p.nodes, min(int(all*9/8), 4*have, p.most)-have)
}

// member reads the value of a member. The scanner has passed the name, which is found by walking back from the value:
// over white space, the colon, white space and the name, which holds no unescaped quote.
func (p *parser) member(depth int) error {
	i := p.scan.Offset() - 1
	for p.raw[i] != ':' {
		i--
	}
	for p.raw[i] != '"' {
		i--
	}
	end := i
	for i--; p.raw[i] != '"' || escaped(p.raw, i); i-- {
	}
	return p.value(depth+1, int32(i+1), int32(end))
}

// escaped reports whether the byte at i stands behind an odd number of backslashes.
func escaped(raw []byte, i int) bool {
	n := 0
	for ; i-1-n >= 0 && raw[i-1-n] == '\\'; n++ {
	}
	return n%2 == 1
}

// skipped reports whether a member of the top level is among those that are not told apart: schemas of tools have
// thousands of values, of which none matters here.
func (p *parser) skipped(depth int, key, keyEnd int32) bool {
	if depth != 1 {
		return false
	}
	for _, name := range p.skip {
		if string(p.raw[key:keyEnd]) == name {
			return true
		}
	}
	return false
}

// get returns the value of an object's field, none if it has no such field or i is no object. It is a linear search:
// objects of requests have few fields.
func (t *tape) get(i int32, name string) int32 {
	found := none
	if i == none || t.nodes[i].kind != '{' {
		return none
	}
	for c := range t.children(i) {
		key := t.key(c)
		if string(key) == name {
			if found != none {
				t.odd = true
			}
			found = c
		} else if bytes.IndexByte(key, '\\') >= 0 {
			t.odd = true
		}
	}
	return found
}

// at returns the value at a path of fields, with dots between them; none if there is none, or the path is empty.
func (t *tape) at(i int32, path string) int32 {
	if path == "" {
		return none
	}
	for more := true; more; {
		var name string
		name, path, more = strings.Cut(path, ".")
		i = t.get(i, name)
	}
	return i
}

// children yields the elements of an array or the values of an object's members, in order.
func (t *tape) children(i int32) func(func(int32) bool) {
	return func(yield func(int32) bool) {
		if i == none || t.nodes[i].kind != '{' && t.nodes[i].kind != '[' {
			return
		}
		for c := i + 1; c < t.nodes[i].next; c = t.nodes[c].next {
			if !yield(c) {
				return
			}
		}
	}
}

// count returns how many children a value has.
func (t *tape) count(i int32) (n int) {
	for range t.children(i) {
		n++
	}
	return n
}

// key returns the name of a member as it stands.
func (t *tape) key(i int32) []byte { return t.raw[t.nodes[i].key:t.nodes[i].keyEnd] }

// kind returns the kind of a value, 0 for none.
func (t *tape) kind(i int32) byte {
	if i == none {
		return 0
	}
	return t.nodes[i].kind
}

// span returns where a value stands; the empty span for none.
func (t *tape) span(i int32) Span {
	if i == none {
		return Span{}
	}
	return Span{int(t.nodes[i].start), int(t.nodes[i].end)}
}

// text returns a value as it stands, nil for none.
func (t *tape) text(i int32) []byte {
	s := t.span(i)
	return t.raw[s.Start:s.End:s.End]
}

// str returns a string value, decoded; "" if it is none.
func (t *tape) str(i int32) string {
	if t.kind(i) != '"' {
		return ""
	}
	s, _ := rawjson.Text(t.text(i))
	return s
}

// is reports whether a field of an object is a certain string without escapes. Escaped spellings do not count; the form
// is then one that is not known.
func (t *tape) is(i int32, want string) bool {
	if t.kind(i) != '"' {
		return false
	}
	n := t.nodes[i]
	return string(t.raw[n.start+1:n.end-1]) == want
}

// absent reports whether a value is none or null.
func (t *tape) absent(i int32) bool { return i == none || t.nodes[i].kind == 'n' }
