package access

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/internal/failure"
)

// A request holds a connection, and memory, until its body has arrived. So its size is bounded, and how long little or
// nothing may arrive. The time for an answer is not: a turn may take minutes, a watch hours.

// minRate is the average in bytes per second at which a body must arrive after [Patience.Idle].
const minRate = 16 << 10

// Patience is how long requests may keep a host waiting. The defaults of [NewGuard] suit a service.
type Patience struct {
	// Stranger is the time for the body of a request that needs no token or was refused, and again for the answer.
	Stranger time.Duration
	// Idle is how long nothing of a body may arrive.
	Idle time.Duration
}

var (
	ErrSlow   = failure.Passing(failure.Deadline, "the request's body did not arrive in time")
	ErrBroken = failure.New(failure.Request, "the request's body is not what its headers say")
)

// Stranger bounds the time of a request that needs no token, or is about to be refused.
func (g *Guard) Stranger(w http.ResponseWriter, r *http.Request) {
	end, control := time.Now().Add(g.Patience.Stranger), http.NewResponseController(w)
	// A client that does not read its answer holds a connection as well.
	_ = control.SetWriteDeadline(end.Add(g.Patience.Stranger))
	// Without a body the deadline would end the wait for the next request, or for the client to disconnect.
	if r.Body != http.NoBody {
		_ = control.SetReadDeadline(end)
	}
}

// Unread is for requests whose body nothing reads: with the answer the connection is closed, where a server would wait
// for the body first.
func Unread(w http.ResponseWriter, r *http.Request) {
	if r.Body != http.NoBody {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	}
}

// Body is a request's body. It fails if the client is silent, slower than 16 KiB a second, or sends more than a bound,
// with a [*LimitError] or an error that wraps ErrSlow or ErrBroken.
type Body struct {
	io.ReadCloser
	control *http.ResponseController
	idle    time.Duration
	most    int
	over    error
	arrived int           // bytes
	spent   time.Duration // in waiting for them, not in the reader of the body
	failed  atomic.Pointer[error]
}

// Bound returns a request with a [Body] of at most most bytes; nil if it has none. The request is a copy: the server
// looks at the body of the original to see whether it was read, and would take the rest of a replaced one for a
// request.
func (g *Guard) Bound(
	ctx context.Context, w http.ResponseWriter, r *http.Request, of Grant, most int,
) (*http.Request, *Body) {
	r = r.WithContext(ctx)
	if r.Body == http.NoBody {
		return r, nil
	}
	b := &Body{ReadCloser: r.Body, control: http.NewResponseController(w), idle: g.Patience.Idle,
		most: most, over: TooLarge(of, most)}
	// If the handler does not read the body, a server of HTTP/1 does before it answers.
	if r.ProtoMajor == 1 {
		_ = b.control.SetReadDeadline(time.Now().Add(b.idle))
	}
	r.Body = b
	return r, b
}

// Err returns why the body could not be read; nil if it could, or was not read.
func (b *Body) Err() error {
	if err := b.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Read reads with a deadline: the idle time, or less if the client is slow on average. Beyond the bound it returns
// nothing, even if the body ends there: a part must not look like a whole body.
func (b *Body) Read(p []byte) (int, error) {
	most := b.idle + time.Duration(b.arrived)*time.Second/minRate - b.spent
	began := time.Now()
	// Servers without deadlines, such as those in tests, have clients that can be trusted.
	_ = b.control.SetReadDeadline(began.Add(min(b.idle, most)))
	n, err := b.ReadCloser.Read(p)
	b.arrived, b.spent = b.arrived+n, b.spent+time.Since(began)
	switch {
	case b.arrived > b.most:
		n, err = 0, b.over
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		// Answers may take any time, and so may the next request on this connection.
		_ = b.control.SetReadDeadline(time.Time{})
		return n, err
	case errors.Is(err, os.ErrDeadlineExceeded): // the deadline stays: before it answers, the server would wait for the rest
		err = errors.Join(ErrSlow, err)
	default:
		err = errors.Join(ErrBroken, err)
	}
	b.failed.Store(&err)
	return n, err
}
