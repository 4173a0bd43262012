package transcript

import (
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// claudeBranches finds what a rewound session no longer holds. Claude Code only appends: a person who goes back to an
// earlier prompt leaves the records of the abandoned branch in the file, and the new prompt names the parent that the
// old one had. Branches of other records are none: results that arrive in parallel make them too.
type claudeBranches struct {
	index      map[string]int // uuid → node
	nodes      []claudeNode
	entries    []int // entry → node, noNode if unknown
	boundaries []int // the same for boundaries
}

type claudeNode struct {
	hash   uint64 // of the message; 0 for other records
	parent int
	// from is the nearest record above that is a message of the conversation.
	from   int
	spoken bool // a message of the main conversation
	prompt bool // of a person
}

// noNode is no known record: the parent is in the file of an earlier session, or there is none. Two prompts without a
// parent are no branch: what follows a cleared context has none either.
const noNode = -1

// add takes a record that has a uuid; one with a known uuid is the known node.
func (c *claudeBranches) add(r record) int {
	id := r.Text("uuid")
	if id == "" {
		return noNode
	}
	if n, ok := c.index[id]; ok {
		return n
	}
	n := claudeNode{parent: noNode}
	own := !r.True("isSidechain") && !r.True("isMeta")
	t := r.Text("type")
	n.spoken = own && (t == "user" || t == "assistant")
	n.prompt = n.spoken && t == "user" && !r.True("isCompactSummary")
	if p, ok := c.index[ordered.Text(ordered.First(r.Raw("parentUuid"), r.Raw("logicalParentUuid")))]; ok {
		n.parent = p
	}
	if n.from = n.parent; n.parent >= 0 && !c.nodes[n.parent].spoken {
		n.from = c.nodes[n.parent].from
	}
	c.nodes = append(c.nodes, n)
	c.index[id] = len(c.nodes) - 1
	return len(c.nodes) - 1
}

// made says that the entries and boundaries that were added since come from a node.
func (c *claudeBranches) made(node int, b *builder) {
	for len(c.entries) < len(b.Entries) {
		if node >= 0 && b.Entries[len(c.entries)].Speaker == content.Tool {
			c.nodes[node].prompt = false
		}
		c.entries = append(c.entries, node)
	}
	for len(c.boundaries) < len(b.t.Boundaries) {
		c.boundaries = append(c.boundaries, node)
	}
}

// abandoned returns which nodes are in a branch that was rewound: below a prompt in whose place the conversation that
// the file ends with has another one; nil for none.
func (c *claudeBranches) abandoned() []bool {
	leaf := noNode
	for i, n := range c.nodes {
		if n.spoken {
			leaf = i
		}
	}
	lives, another := make([]bool, len(c.nodes)), map[int]bool{}
	for i := leaf; i >= 0; i = c.nodes[i].parent {
		lives[i] = true
		if n := c.nodes[i]; n.prompt && n.from != noNode {
			another[n.from] = true
		}
	}
	var gone []bool
	for i, n := range c.nodes { // a parent is before its children
		if !lives[i] && (n.prompt && another[n.from] || n.parent >= 0 && gone != nil && gone[n.parent]) {
			if gone == nil {
				gone = make([]bool, len(c.nodes))
			}
			gone[i] = true
		}
	}
	return gone
}

// leaveOut takes what was abandoned out of the transcript.
func (c *claudeBranches) leaveOut(b *builder) {
	gone := c.abandoned()
	if gone == nil {
		return
	}
	left := func(node int) bool { return node >= 0 && gone[node] }
	t := &b.t
	bounds := t.Boundaries[:0]
	kept, first, out, next := 0, 0, 0, 0
	for i := 0; i <= len(b.Entries); i++ {
		for ; next < len(t.Boundaries) && t.Boundaries[next].Index == i; next++ {
			if boundary := t.Boundaries[next]; !left(c.boundaries[next]) {
				boundary.Index = kept
				bounds = append(bounds, boundary)
			}
		}
		switch {
		case i == len(b.Entries):
		case left(c.entries[i]):
			if out++; out == 1 {
				first = b.Lines[i]
			}
		default:
			b.Entries[kept], b.Lines[kept] = b.Entries[i], b.Lines[i]
			kept++
		}
	}
	clear(b.Entries[kept:])
	b.Entries, b.Lines, t.Boundaries = b.Entries[:kept], b.Lines[:kept], bounds
	if out > 0 {
		b.note(first, -1, "%d × entry of a branch that was rewound left out, with the usage of its requests "+
			"(the first is here)", out)
	}
}
