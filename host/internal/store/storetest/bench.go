package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// Entry is as long as an entry of a session often is, 2 kB.
var Entry = bytes.Repeat([]byte("0123456789abcde\n"), 125)

// threeEntries is what a turn appends: one record, as a host writes it, or a record for each. The difference between
// the two is what a record costs beyond its bytes.
var threeEntries = map[string][]store.Record{
	"one-record":    {{Kind: store.Added, Data: slices.Concat(Entry, Entry, Entry)}},
	"three-records": slices.Repeat([]store.Record{{Kind: store.Added, Data: Entry}}, 3),
}

// Benchmark measures appends of one and of many sessions at once, and the load of a long session. open is called for
// each case, because a store that already holds much would make the next case slower.
func Benchmark(b *testing.B, open func(b *testing.B) store.Store) {
	for _, c := range []struct {
		records  string
		sessions int
	}{{"one-record", 1}, {"one-record", 8}, {"one-record", 64}, {"three-records", 1}, {"three-records", 64}} {
		sessions := c.sessions
		b.Run(fmt.Sprintf("append/%s/sessions=%d", c.records, sessions), func(b *testing.B) {
			s := open(b)
			// Each worker has a session of its own, so that no append conflicts: what is measured is how they share
			// commits.
			heads := make([]store.Head, sessions)
			for i := range heads {
				heads[i] = newHead(b, s, fmt.Sprint("s", i))
			}
			change := store.Change{Records: threeEntries[c.records]}
			Measure(b, sessions, func(i int) (err error) {
				// Each append goes on from the head that the last one returned, as a host does.
				heads[i], err = s.Append(b.Context(), heads[i].Key, heads[i].Position(), change)
				return err
			})
		})
	}
	for name, records := range threeEntries {
		b.Run("load/"+name+"/entries=5000", func(b *testing.B) {
			s := open(b)
			h := newHead(b, s, "s")
			var err error
			// three entries for each append, rounded up to whole appends
			const appends = 5001 / 3
			for range appends {
				if h, err = s.Append(b.Context(), h.Key, h.Position(), store.Change{Records: records}); err != nil {
					b.Fatal(err)
				}
			}
			Measure(b, 1, func(int) error {
				n := 0
				for _, err := range s.Records(b.Context(), h.Key, store.Choice{}) {
					if err != nil {
						return err
					}
					n++
				}
				// Records must be read to the end: a store that stops early would seem fast.
				if n != appends*len(records) {
					return fmt.Errorf("%d records", n)
				}
				return nil
			})
		})
	}
}

// newHead creates a session of the local user.
func newHead(b *testing.B, s store.Store, id string) store.Head {
	b.Helper()
	h, err := s.Create(b.Context(), store.Key{ID: id}, store.Origin{})
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// Measure calls do b.N times from as many goroutines as there are workers, each with its number, and reports the
// calls per second, and how long half and all but one in a hundred of them took at most. The first error ends a worker,
// not the others.
func Measure(b *testing.B, workers int, do func(worker int) error) {
	b.Helper()
	took := make([][]time.Duration, workers)
	b.ResetTimer()
	begin := time.Now()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			// b.N is divided so that the workers together do exactly b.N calls.
			for range (b.N + workers - 1 - w) / workers {
				start := time.Now()
				if err := do(w); err != nil {
					b.Error(err)
					return
				}
				// A slice for each worker, so that none waits for a lock while time is measured.
				took[w] = append(took[w], time.Since(start))
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(begin)
	b.StopTimer()
	all := slices.Concat(took...)
	// Every worker has failed at its first call, which b.Error has reported.
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	// Throughput and latency are both needed: a batch raises one at the cost of the other.
	b.ReportMetric(float64(len(all))/elapsed.Seconds(), "calls/s")
	b.ReportMetric(ms(all[len(all)/2]), "p50-ms")
	b.ReportMetric(ms(all[len(all)*99/100]), "p99-ms")
	// Go divides the elapsed time by all calls, which is not how long one takes when several workers overlap. A value
	// of 0 hides it.
	b.ReportMetric(0, "ns/op")
}
