package history

import (
	"fmt"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// place names a call or a response independently of positions, which a rewrite shifts: the nth block of its entry with
// that call id. Entries that a strategy made have no id; their blocks have no place in the history before.
type place struct {
	entry, call string
	nth         int
}

// pairing is who answers whom in a history.
type pairing struct {
	// answer maps every answered call to its response, and back.
	answer map[place]place
	// orphans are the responses without a call, with their position; waiting the calls without a response.
	orphans, waiting map[place]int
	// pending are those of waiting that nobody has spoken after: the agent is still running the tool.
	pending map[place]bool
}

func pair(entries []*Entry) pairing {
	p := pairing{answer: map[place]place{}, orphans: map[place]int{}, waiting: map[place]int{}, pending: map[place]bool{}}
	contents := make([]content.Content, len(entries))
	last := -1 // the last entry that is no tool's
	for i, e := range entries {
		contents[i] = e.Content
		if e.Content.Speaker != content.Tool {
			last = i
		}
	}
	pairs := turns.Pair(contents)
	places := make([][]place, len(entries))
	for i, c := range contents {
		places[i] = entryPlaces(entries[i].ID, i, c)
	}
	for call, response := range pairs.Answered() {
		c, r := places[call.Entry][call.Block], places[response.Entry][response.Block]
		p.answer[c], p.answer[r] = r, c
	}
	for _, r := range pairs.Orphans() {
		p.orphans[places[r.Entry][r.Block]] = r.Entry
	}
	for _, r := range pairs.Pending() {
		p.waiting[places[r.Entry][r.Block]] = r.Entry
		if r.Entry >= last {
			p.pending[places[r.Entry][r.Block]] = true
		}
	}
	return p
}

// entryPlaces returns the place of every call and response of an entry.
func entryPlaces(id string, at int, c content.Content) []place {
	if id == "" {
		id = fmt.Sprintf("new entry %d", at) // no id of a history has a space
	}
	out := make([]place, len(c.Blocks))
	seen := map[string]int{}
	for j, b := range c.Blocks {
		var call string
		switch b := b.(type) {
		case content.ToolCall:
			call = b.ID
		case content.ToolResponse:
			call = b.CallID
		default:
			continue
		}
		out[j] = place{id, call, seen[call]}
		seen[call]++
	}
	return out
}

// checkPairs compares the pairing of calls and responses before and after a rewrite. It may not get worse: what was a pair
// stays one or goes as one, no response is without a call that had one, and a call that still waits stays.
func checkPairs(before, after []*Entry) error {
	was, is := pair(before), pair(after)
	fail := func(at int, p place, err error) error {
		return &AnswerError{Index: at, Answer: at >= 0, Detail: fmt.Sprintf("call id %q", p.call), Err: err}
	}
	for p, at := range is.orphans {
		if _, already := was.orphans[p]; !already {
			return fail(at, p, ErrOrphaned)
		}
	}
	for p, at := range is.waiting {
		if _, already := was.waiting[p]; !already {
			return fail(at, p, ErrUnanswered)
		}
	}
	for a, b := range is.answer {
		if old, known := was.answer[a]; known && old != b {
			return fail(-1, a, ErrOrphaned) // ids repeat: it now seems to answer another call
		}
	}
	for p := range was.pending {
		_, waits := is.waiting[p]
		_, answered := is.answer[p]
		if !waits && !answered {
			return fail(-1, p, ErrPendingRemoved)
		}
	}
	return nil
}
