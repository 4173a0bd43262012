package access

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// A request holds a connection, and memory, until its body is there. So what a client sends is bounded in size, and in
// how long nothing, or next to nothing, may come of it. How long an answer takes is not bounded here: a turn may take
// minutes, and a watch takes hours.

// minRate is how many bytes a second a client must have sent of its body on the average after [Patience.Idle].
const minRate = 16 << 10

// Patience is how long requests may keep a host waiting. [NewGuard] sets what suits a service.
type Patience struct {
	// Stranger is the time for the body of a request that needs no token or was refused, and again for the answer.
	Stranger time.Duration
	// Idle is how long a client may send nothing of its body.
	Idle time.Duration
}

// Why a body cannot be read.
var (
	ErrSlow   = errors.New("the request's body did not arrive in time")
	ErrBroken = errors.New("the request's body is not what its headers say")
)

// Stranger bounds the time of a request that no token vouches for: one that needs none, or that is about to be refused.
func (g *Guard) Stranger(w http.ResponseWriter, r *http.Request) {
	end, control := time.Now().Add(g.Patience.Stranger), http.NewResponseController(w)
	// A client that takes no answer holds a connection as well. A server of HTTP/1 answers when it has read the body.
	_ = control.SetWriteDeadline(end.Add(g.Patience.Stranger))
	// Without a body the deadline would end the wait for the next request, or for the client to go away.
	if r.Body != http.NoBody {
		_ = control.SetReadDeadline(end)
	}
}

// Body is the body of a request whose client may be slow, but neither silent nor slower than 16 KiB a second, nor send
// more than a bound. Its errors are a [*LimitError], or wrap ErrSlow or ErrBroken.
type Body struct {
	io.ReadCloser
	control *http.ResponseController
	idle    time.Duration
	most    int
	over    error
	arrived int           // bytes
	spent   time.Duration // in waiting for them: what reads the body may be slow as well
	failed  atomic.Pointer[error]
}

// Bound returns a request with a [Body] of at most most bytes; nil if it has none. It is a copy, with a context of its
// own: the server looks at the body of the original to find out whether it was read, and would take the rest of one
// that was replaced for the next request.
func (g *Guard) Bound(
	ctx context.Context, w http.ResponseWriter, r *http.Request, of Grant, most int,
) (*http.Request, *Body) {
	r = r.WithContext(ctx)
	if r.Body == http.NoBody {
		return r, nil
	}
	b := &Body{ReadCloser: r.Body, control: http.NewResponseController(w), idle: g.Patience.Idle,
		most: most, over: TooLarge(of, most)}
	// For a handler that does not read it: a server of HTTP/1 reads the rest itself before it answers.
	if r.ProtoMajor == 1 {
		_ = b.control.SetReadDeadline(time.Now().Add(b.idle))
	}
	r.Body = b
	return r, b
}

// Err returns why the body could not be read; nil if it could, or nothing was read.
func (b *Body) Err() error {
	if err := b.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Read reads what has arrived, with a deadline for it: the idle time, or less if the client is slow on the average. It
// drops what is beyond the bound, also if the body would have ended there: a part must not look like a whole body.
func (b *Body) Read(p []byte) (int, error) {
	most := b.idle + time.Duration(b.arrived)*time.Second/minRate - b.spent
	began := time.Now()
	// Servers without deadlines, such as those of tests, have clients that can be trusted.
	_ = b.control.SetReadDeadline(began.Add(min(b.idle, most)))
	n, err := b.ReadCloser.Read(p)
	b.arrived, b.spent = b.arrived+n, b.spent+time.Since(began)
	switch {
	case b.arrived > b.most:
		n, err = 0, b.over
	case err == nil:
		return n, nil
	case err == io.EOF:
		// Answers may take any time, and so may the next request on this connection.
		_ = b.control.SetReadDeadline(time.Time{})
		return n, err
	case errors.Is(err, os.ErrDeadlineExceeded): // it stays: before it answers, the server would wait for the rest
		err = errors.Join(ErrSlow, err)
	default:
		err = errors.Join(ErrBroken, err)
	}
	b.failed.Store(&err)
	return n, err
}
