package compare

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// maxUsed limits the identifiers that count as used by one answer. A model that writes out a long list uses few of
// them in any sense that recall is about.
const maxUsed = 4096

// recording extends a replay's recording by what later turns used. All variants share it and read it concurrently, so
// nothing changes after record has returned.
type recording struct {
	*replay.Recording
	name     string
	taxonomy *tools.Taxonomy
	pairs    *turns.Pairs
	prices   prices
	// cached says that the recording knows what was read from the prompt cache or written to it, which may be nothing.
	// reads says that something was read, writes that it is known what was written.
	cached, reads, writes bool
	// uses holds what each request's answer used, parallel to Requests.
	uses []uses
	// words numbers the identifiers that some answer uses; names has them by number. Only these are searched for in
	// entries, which keeps the index small: most identifiers in tool output are never used again.
	words map[string]int32
	names []string
	// groups maps a result to the number of its group of equal calls. Groups are numbered after the words, so
	// that both are things in one index.
	groups map[resultKey]int32
	// lines numbers the lines of files that some edit replaces, in the form of fileLine, behind the groups.
	lines     map[string]int32
	linesFrom int32
	offer     offer
	// around has the words on each line of the recording, as things of their own: see findAround.
	around     map[string][]int32
	aroundFrom int32
	things     int // words, groups, lines and words on their lines together
	// own has for each request which lines became the agent's own since the one before, or no longer are; sizes has the
	// bytes of these lines.
	own   [][]ownLine
	sizes map[int32]int32
	// best is what the least that the session could have cost follows from.
	best hindsight
}

// uses is what the answer to one request used of the unpruned request.
type uses struct {
	words   []usedWord
	repeats []repeatedCall
	calls   []neededCall
}

type usedWord struct {
	word        int32
	onlyResults bool  // in the unpruned request, only tool responses contained it
	onLine      bool  // in the unpruned request, it stood on a line with something else
	entry       int32 // position of the entry that used it
	from        int32 // position of the last entry before that which contained it
}

// repeatedCall is a call that was made before with equal parameters, and whose result was in the unpruned request.
type repeatedCall struct {
	group  int32
	tokens int // of the entry with the result of this call, which is what the repetition cost
}

// resultKey identifies one tool result. Call ids are not unique in all formats, and equal results of different calls
// are different things here, so the address of the bytes is part of the key: results that are kept are not copied.
type resultKey struct {
	call  string
	first *byte
}

// keyOf returns the key of a response; an empty result has no address and is not tracked.
func keyOf(r content.ToolResponse) (resultKey, bool) {
	if len(r.Result) == 0 {
		return resultKey{}, false
	}
	return resultKey{r.CallID, &r.Result[0]}, true
}

// record analyses a session once for all variants: it counts its entries, finds its requests, and collects what each
// answer used. Errors come from counting and from ctx.
func record(ctx context.Context, h *window.Host, s Session, p prices) (*recording, error) {
	base, err := replay.Record(ctx, h, s.Transcript)
	if err != nil {
		return nil, err
	}
	r := &recording{
		Recording: base, name: s.Name, pairs: turns.Pair(s.Transcript.Entries), words: map[string]int32{},
		uses: make([]uses, len(base.Requests)), sizes: map[int32]int32{}, prices: p,
	}
	r.cached, r.writes = s.Transcript.CountsReads || s.Transcript.CountsWrites, s.Transcript.CountsWrites
	for _, u := range s.Transcript.Usage {
		r.cached = r.cached || u.CacheRead+u.CacheWrite > 0
		r.reads = r.reads || u.CacheRead > 0
		r.writes = r.writes || u.CacheWrite > 0
	}
	if r.taxonomy, err = window.Taxonomy(h.Config().Settings()); err != nil {
		return nil, err
	}
	if r.offer, err = newOffer(ctx, h, r.entries()); err != nil {
		return nil, err
	}
	used := r.findUsed()
	repeats := r.findRepeats()
	calls := r.findNeeds()
	r.own = r.findOwn()
	r.findAround()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.keepVisible(used, repeats, calls)
	r.best = r.findHindsight()
	return r, nil
}

func (r *recording) entries() []content.Content { return r.Transcript.Entries }

func (r *recording) tokens() (total int) {
	for i := range r.entries() {
		total += r.Counted.Tokens(i)
	}
	return total
}

func (r *recording) billed() (n int) {
	for _, q := range r.Requests {
		if len(q.Usage) > 0 {
			n++
		}
	}
	return n
}

// boundaries returns the turns, from 1, before which the recorder compacted its history.
func (r *recording) boundaries() (turns []int) {
	for n, q := range r.Requests {
		if q.Boundary {
			turns = append(turns, n+1)
		}
	}
	return turns
}

// answer yields the positions of the entries that answer request n (from 0): the AI entries from the request on. Some
// recorders split one answer into several entries.
func (r *recording) answer(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		e := r.entries()
		end := len(e)
		if n+1 < len(r.Requests) {
			end = r.Requests[n+1].Entry
		}
		for i := r.Requests[n].Entry; i < end && (e[i].Speaker == content.AI || transcript.ByProvider(e[i])); i++ {
			if e[i].Speaker == content.AI && !yield(i) {
				return
			}
		}
	}
}

// begins reports whether a request is the first of a context that the recorder began.
func (r *recording) begins(request int) bool {
	return request == 0 || r.Requests[request].From != r.Requests[request-1].From
}
