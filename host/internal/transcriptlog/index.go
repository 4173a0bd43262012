package transcriptlog

import (
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/thresh-dev/thresh/internal/nearest"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Index finds the entries of a conversation by their ids or those of tool calls. It is safe for concurrent use.
type Index struct {
	entries []content.Content
	ids     []string
	byID    map[string]int
	// Positions, ascending; call ids may repeat.
	byCall map[string][]int
}

// NewIndex indexes entries by their ids, one for each. Nil means that no host wrote the conversation: its entries are
// then e1, e2 and so on, the ids that a session would give them.
func NewIndex(entries []content.Content, ids []string) *Index {
	x := &Index{entries: entries, ids: ids, byID: map[string]int{}, byCall: map[string][]int{}}
	if x.ids == nil {
		for i := range entries {
			x.ids = append(x.ids, "e"+strconv.Itoa(i+1))
		}
	}
	for i := range entries {
		if _, known := x.byID[x.ids[i]]; !known && x.ids[i] != "" {
			x.byID[x.ids[i]] = i
		}
		for _, id := range x.Calls(i) {
			x.byCall[id] = append(x.byCall[id], i)
		}
	}
	return x
}

// ID returns the id of the entry at a position; "" if it has none.
func (x *Index) ID(index int) string { return x.ids[index] }

// Calls returns the ids of the tool calls and responses in the entry at a position, sorted, without repeats.
func (x *Index) Calls(index int) []string { return calls(x.entries[index]) }

func calls(c content.Content) []string {
	var ids []string
	for _, b := range c.Blocks {
		if id, _ := content.CallID(b); id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Holds reports whether an entry has the tool call with an id, or a response to it.
func Holds(c content.Content, id string) bool { return id != "" && slices.Contains(calls(c), id) }

// Find returns the position of the entry with an id, or else the positions of the entries with the tool call of that id
// and its responses, ascending; nil if nothing has the id.
func (x *Index) Find(id string) []int {
	if i, ok := x.byID[id]; ok {
		return []int{i}
	}
	return x.byCall[id]
}

// Near returns at most limit known ids, the most similar to id first.
func (x *Index) Near(id string, limit int) []string {
	return nearest.Some(id, x.all(), limit)
}

func (x *Index) all() iter.Seq[string] {
	return func(yield func(string) bool) {
		for id := range maps.Keys(x.byID) {
			if !yield(id) {
				return
			}
		}
		for id := range maps.Keys(x.byCall) {
			if _, also := x.byID[id]; !also && !yield(id) {
				return
			}
		}
	}
}
