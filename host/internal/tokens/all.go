package tokens

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/thresh-dev/thresh/sdk/content"
)

// CountAll returns the count of each entry, as [Counter.Entry] gives it, in their order. It works on all processors and
// is for loading a session; a turn counts its few new entries by Entry.
//
// If progress is not nil, it is called with the number of entries that are done: ascending, each number once, never
// twice at the same time, and it holds up the counting. CountAll stops soon after ctx is done, with its error, even inside
// of one huge entry. The only other error is that of [Counter.Load].
func (c *Counter) CountAll(ctx context.Context, entries []content.Content, progress func(done int)) ([]int, error) {
	var (
		counts  = make([]int, len(entries))
		next    atomic.Int64
		mu      sync.Mutex
		done    int
		workers = min(runtime.GOMAXPROCS(0), len(entries))
	)
	finished := func() {
		if progress == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		progress(done)
	}
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(entries) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				n, err := c.entry(ctx, entries[i])
				if err != nil {
					return err
				}
				counts[i] = n
				finished()
			}
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return counts, nil
}
