package tokens

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/thresh-dev/thresh/sdk/content"
)

// CountAll returns the count of each entry, in order, as [Counter.Entry] gives it. It uses all processors and is
// meant for loading a session. A turn counts its few new entries with Entry.
//
// If progress is not nil, it is called with the number of entries done so far. The numbers ascend without gaps and
// the calls never overlap; counting waits while progress runs. CountAll stops soon after ctx is done, even inside one
// huge entry, and returns the error of ctx. The only other error is that of [Counter.Load].
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
