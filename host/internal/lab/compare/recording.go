package compare

import (
	"context"
	"time"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// maxUsed bounds the identifiers that one turn is held to use: a model that writes a dictionary uses the beginning of it.
const maxUsed = 4096

// recording is what there is to know of a session before any strategy sees it. It is the same for all variants, which read
// it at the same time.
type recording struct {
	session Session
	counted engine.Counted
	pairs   *turns.Pairs
	turns   []recordedTurn
	total   int // tokens of all entries
	// boundary has the entries before which the recorder compacted.
	boundary map[int]bool
	// words are the identifiers that some turn uses. Nothing else needs to be looked for. Their numbers are followed by
	// those of the groups.
	words map[string]int32
	names []string
	// groups are results of equal calls: where a result belongs.
	groups map[resultKey]int32
	things int // words and groups
	timed  bool
}

// recordedTurn is a request of the recorded session, as it was if nothing was done.
type recordedTurn struct {
	entry    int
	boundary bool
	unpruned int
	at       time.Time
	reported int // by the recorder; 0 if it is not known
	used     []usedWord
	repeats  []repeatedCall
}

// usedWord is an identifier that the answer used and that stood in the unpruned context.
type usedWord struct {
	word        int32
	onlyResults bool // nothing but results of tools held it
	entry, from int32
}

// repeatedCall is a call of the answer that had been made before, with a result that stood in the unpruned context.
type repeatedCall struct {
	group  int32
	tokens int // of the entry with its own result
}

// resultKey tells one result of a tool from another, however equal: a result that is kept is kept as the bytes that it is.
type resultKey struct {
	call  string
	first *byte
}

func keyOf(r content.ToolResponse) (resultKey, bool) {
	if len(r.Result) == 0 {
		return resultKey{}, false
	}
	return resultKey{r.CallID, &r.Result[0]}, true
}

// record reads a session: counts its entries, finds its turns, what they use, and what of that stood in the context.
func record(ctx context.Context, h *engine.Host, s Session) (*recording, error) {
	counted, err := h.Count(ctx, s.Transcript.Entries)
	if err != nil {
		return nil, err
	}
	r := &recording{session: s, counted: counted, pairs: turns.Pair(s.Transcript.Entries), boundary: s.Transcript.Replaced(), words: map[string]int32{}}
	r.findTurns()
	used := r.findUsed()
	repeats := r.findRepeats()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.stand(used, repeats)
	return r, nil
}

func (r *recording) entries() []content.Content { return r.session.Transcript.Entries }

// findTurns finds the requests, and what each of them would have counted if nothing had been done.
func (r *recording) findTurns() {
	requests, unpruned := r.session.Transcript.Requests(), r.counted.Baseline()
	turn := func() {
		t := requests[0]
		r.turns = append(r.turns, recordedTurn{entry: t.Entry, boundary: t.Boundary, unpruned: unpruned.Tokens(), at: t.At, reported: t.Reported})
		r.timed = r.timed || !t.At.IsZero()
		requests = requests[1:]
	}
	for i := range r.entries() {
		if r.boundary[i] {
			unpruned = r.counted.Baseline()
		}
		if len(requests) > 0 && requests[0].Entry == i {
			turn()
		}
		unpruned.Add(r.counted.Slice(i, i+1))
		r.total += r.counted.Tokens(i)
	}
	if len(requests) > 0 { // the one that was never answered
		turn()
	}
}

// answer yields the positions of the entries that answer a turn.
func (r *recording) answer(t recordedTurn) func(func(int) bool) {
	return func(yield func(int) bool) {
		e := r.entries()
		for i := t.entry; i < len(e) && e[i].Speaker == content.AI && (i == t.entry || !r.boundary[i]); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// over counts the requests that would have been too large if nothing had been done, as the host counts: with what the
// recorder reported.
func (r *recording) over(hard int) (n int, each []bool) {
	each = make([]bool, len(r.turns))
	var c tokens.Calibration
	for i, t := range r.turns {
		if t.boundary {
			c = tokens.Calibration{}
		}
		if c.Estimate(t.unpruned) > hard {
			each[i] = true
			n++
		}
		if t.reported > 0 {
			c.Observe(t.unpruned, t.reported)
		}
	}
	return n, each
}
