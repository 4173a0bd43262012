package transcriptlog

import (
	"maps"
	"slices"
	"strconv"

	"github.com/agext/levenshtein"

	"github.com/thresh-dev/thresh/host/internal/transcript"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Kept is a conversation whose entries can be found by id: that of an entry, or that of a tool call.
type Kept struct {
	entries []content.Content
	ids     []string
	byID    map[string]int
	byCall  map[string][]int
}

// NewKept returns the entries of a transcript by id. A transcript that holds no ids was not kept by a host: its entries are
// then e1, e2 and so on, as a session numbers them that is given all of them.
func NewKept(t *transcript.Transcript) *Kept {
	k := &Kept{entries: t.Entries, ids: t.IDs, byID: map[string]int{}, byCall: map[string][]int{}}
	if k.ids == nil {
		for i := range t.Entries {
			k.ids = append(k.ids, "e"+strconv.Itoa(i+1))
		}
	}
	for i := range t.Entries {
		if _, twice := k.byID[k.ids[i]]; !twice && k.ids[i] != "" {
			k.byID[k.ids[i]] = i
		}
		for _, id := range k.Calls(i) {
			k.byCall[id] = append(k.byCall[id], i)
		}
	}
	return k
}

// ID is the id of the entry at a position; "" if the file gives it none.
func (k *Kept) ID(index int) string { return k.ids[index] }

// Calls are the ids of the calls and responses in the entry at a position, sorted, each once.
func (k *Kept) Calls(index int) []string {
	var ids []string
	for _, b := range k.entries[index].Blocks {
		switch b := b.(type) {
		case content.ToolCall:
			ids = append(ids, b.ID)
		case content.ToolResponse:
			ids = append(ids, b.CallID)
		}
	}
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == "" })
}

// Find returns the position of the entry with an id, or else the positions of those that hold the call with that id and its
// responses, ascending; none if nothing has the id.
func (k *Kept) Find(id string) []int {
	if i, ok := k.byID[id]; ok {
		return []int{i}
	}
	return k.byCall[id]
}

// mostGuessed is the length in bytes up to which an id is worth a guess: the distance costs the product of the lengths, and
// what is longer is no slip of the pen.
const mostGuessed = 100

// Near returns ids that an id may have been meant to be, the nearest first, at most so many.
func (k *Kept) Near(id string, most int) []string {
	if len(id) > mostGuessed {
		return nil
	}
	byDistance := map[int][]string{}
	consider := func(known string) {
		if known == "" || len(known) > mostGuessed {
			return
		}
		if d := levenshtein.Distance(id, known, nil); d <= max(1, min(len(id), len(known))/3) {
			byDistance[d] = append(byDistance[d], known)
		}
	}
	for known := range k.byID {
		consider(known)
	}
	for known := range k.byCall {
		consider(known)
	}
	var out []string
	for _, d := range slices.Sorted(maps.Keys(byDistance)) {
		slices.Sort(byDistance[d])
		out = append(out, slices.Compact(byDistance[d])...) // an entry and a call may have the same one
	}
	return out[:min(len(out), most)]
}
