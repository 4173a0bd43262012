package compare

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// maxUsed bounds the identifiers that one answer is held to use: of a model that writes a dictionary, the beginning
// counts.
const maxUsed = 4096

// recording adds to a replay's recording what later turns used. It is the same for all variants, which read it at the
// same time.
type recording struct {
	*replay.Recording
	name  string
	pairs *turns.Pairs
	// uses are what each request's answer used, parallel to Requests.
	uses []uses
	// words numbers the identifiers that some answer uses, and names are those identifiers by number. Nothing else
	// needs to be looked for in entries.
	words map[string]int32
	names []string
	// groups numbers the results of equal calls: it says which group a result belongs to. Their numbers follow those of
	// the words.
	groups map[resultKey]int32
	things int // words and groups together
}

// uses is what the answer to one request used of what the unpruned request held.
type uses struct {
	words   []usedWord
	repeats []repeatedCall
}

// usedWord is an identifier that the answer used.
type usedWord struct {
	word        int32
	onlyResults bool  // nothing but results of tools held it
	entry       int32 // the entry that used it
	from        int32 // the last entry before it that held it
}

// repeatedCall is a call of the answer that had been made before, with a result that was in the unpruned request.
type repeatedCall struct {
	group  int32
	tokens int // of the entry with its own result
}

// resultKey tells one result of a tool from another with the same bytes. A result that is kept is passed on without a
// copy, so that where its bytes are identifies it.
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

// record reads a session: counts its entries, finds its requests, and what of each its answer used.
func record(ctx context.Context, h *engine.Host, s Session) (*recording, error) {
	base, err := replay.Record(ctx, h, s.Transcript)
	if err != nil {
		return nil, err
	}
	r := &recording{
		Recording: base, name: s.Name, pairs: turns.Pair(s.Transcript.Entries), words: map[string]int32{},
		uses: make([]uses, len(base.Requests)),
	}
	used := r.findUsed()
	repeats := r.findRepeats()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.keepVisible(used, repeats)
	return r, nil
}

func (r *recording) entries() []content.Content { return r.Transcript.Entries }

// tokens is what all entries count together.
func (r *recording) tokens() (total int) {
	for i := range r.entries() {
		total += r.Counted.Tokens(i)
	}
	return total
}

// boundaries are the turns, from 1, before which the recorder had compacted.
func (r *recording) boundaries() (turns []int) {
	for n, q := range r.Requests {
		if q.Boundary {
			turns = append(turns, n+1)
		}
	}
	return turns
}

// answer yields the positions of the entries that answer the request at position n.
func (r *recording) answer(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		e := r.entries()
		end := len(e)
		if n+1 < len(r.Requests) {
			end = r.Requests[n+1].Entry
		}
		for i := r.Requests[n].Entry; i < end && e[i].Speaker == content.AI; i++ {
			if !yield(i) {
				return
			}
		}
	}
}
