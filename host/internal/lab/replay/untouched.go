package replay

import (
	"fmt"
	"iter"

	"github.com/thresh-dev/thresh/host/outcome"
)

// Untouched yields the turns of a session to which nothing is done: each request holds all that was before it. Those
// that fail with room for hard tokens ([Request.Fails]) are over the limit. It is what a strategy is compared with, and
// needs no host.
func (r *Recording) Untouched(hard int) iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		stable := 0 // in tokens: all of the last request is sent again, unless the recorder compacted
		for n, q := range r.Requests {
			if q.Boundary {
				stable = min(stable, r.System)
			}
			turn := Turn{
				Turn: n + 1, Entry: q.Entry, From: q.From, Boundary: q.Boundary, At: q.At,
				Unpruned: q.Unpruned, Before: q.Unpruned, AfterOptimize: q.Unpruned, AfterCompress: q.Unpruned,
				Stable: outcome.Stable{Tokens: stable}, Reported: q.Reported, Projected: q.Projected,
				unpruned: q.Projected,
			}
			if q.Fails(hard, r.Window.By == BySetting) {
				turn.Overflow = fmt.Sprintf("%d tokens are over the limit of %d", q.Projected, hard)
			} else {
				stable = q.Unpruned // what cannot be sent is in no cache
			}
			if !yield(turn) {
				return
			}
		}
	}
}
