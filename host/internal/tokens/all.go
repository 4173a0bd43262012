package tokens

import (
	"context"
	"runtime"
	"sync"

	"github.com/thresh-dev/thresh/sdk/content"
)

// CountAll returns what [Counter.Entry] gives for each entry, in order, on all processors if that is worthwhile.
//
// progress, unless nil, is called with the number of entries done: ascending without gaps, never concurrently; counting
// waits for it. Soon after ctx is done, even inside a huge entry, CountAll returns its error; the only other one is
// [Counter.Load]'s.
func (c *Counter) CountAll(ctx context.Context, entries []content.Content, progress func(done int)) ([]int, error) {
	var (
		mu   sync.Mutex
		done int
	)
	count := func(ctx context.Context, i int) (int, error) {
		n, err := c.entry(ctx, entries[i])
		if err == nil && progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(done)
		}
		return n, err
	}
	workers := 1
	if isLarge(entries) {
		workers = runtime.GOMAXPROCS(0)
	}
	counts, err := each(ctx, workers, len(entries), count)
	if err != nil {
		return nil, err
	}
	return counts, nil
}

// isLarge reports whether counting takes longer than starting goroutines for it. Turns seldom add so much.
func isLarge(entries []content.Content) bool {
	const enough = 16 << 10 // bytes, which take about 0.2 ms
	size := 0
	for _, e := range entries {
		for _, b := range e.Blocks {
			size += content.ReadSize(b)
			if size > enough {
				return true
			}
		}
	}
	return false
}
