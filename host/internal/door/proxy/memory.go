package proxy

import (
	"context"
	"errors"
	"net/http"

	"golang.org/x/sync/semaphore"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
)

// What conversations take in memory, in bytes, as BenchmarkMemory prints it. Small messages take far more than their
// text: each is an item, a part, an entry and its place in lists.
const (
	// valueBytes is what a turn takes for each JSON value of a body, besides the body: a message of one text has three.
	valueBytes = 600
	// copies is how often messages that came alone are in memory, in one form or another.
	copies = 5
	// branchBytes is what a branch takes besides its conversation: its session, settings and counters.
	branchBytes = 128 << 10
	// entryBytes is what a branch takes for each of its entries, besides the text, which is the body's.
	entryBytes = 360
	// leastWork is what turns may take together, however small sessions.maxMemory is, and noLimit is taken for one of 0.
	leastWork, noLimit = 64 << 20, 2 << 30
)

// takes is what a branch takes in memory, about, with the session that is closed with it.
func (b *branch) takes(r *body.Request) int {
	return branchBytes + len(r.Raw) + entryBytes*len(b.entries) + b.session.Bytes()
}

// working admits turns by what they will take. A turn that takes more than all may is admitted alone.
type working struct {
	bytes *semaphore.Weighted
	most  int64
}

// room is what a turn was admitted for.
type room struct{ bytes int64 }

var errNoRoom = errors.New("the turns of others take all memory")

// share is a part of sessions.maxMemory, of least bytes at least.
func share(most, parts int, least int64) int64 {
	if most == 0 {
		most = noLimit
	}
	return max(least, int64(most/parts))
}

func newWorking(most int64) working {
	return working{semaphore.NewWeighted(most), most}
}

// enter waits for room for a turn of so many values. [working.leave] must be called also after an error.
func (w *working) enter(ctx context.Context, r *room, values int) error {
	bytes := min(int64(values)*valueBytes, w.most)
	if w.bytes.Acquire(ctx, bytes) != nil {
		return errNoRoom
	}
	r.bytes = bytes
	return nil
}

func (w *working) leave(r *room) { w.bytes.Release(r.bytes) }

// busy refuses messages for which there is no memory now.
func busy() error {
	return &api.Error{Kind: api.KindHost, Retryable: true, Status: http.StatusServiceUnavailable,
		Message: "the messages of others take all memory that sessions.maxMemory allows: try again in a second"}
}
