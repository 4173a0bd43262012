package proxy

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// Reading a client's body. It must be in memory as a whole before it can be edited, so its size, the sum of all
// sizes, and the time between two pieces are bounded.

const (
	// maxBody is the largest body that is read, in bytes: twice what Anthropic takes. Larger ones are streamed through.
	maxBody = 64 << 20
	// maxReading bounds the memory of bodies that are in work, of all requests together, in bytes.
	maxReading = 512 << 20
	// memoryWait is how long a request may wait for memory that others have.
	memoryWait = 10 * time.Second
	// bodyIdle is how long a client may send nothing of its body, and minRate how many bytes a second it must have sent
	// of it on the average after that time.
	bodyIdle = time.Minute
	minRate  = 16 << 10
	// maxGrown is how much memory a body gets because its client says that it will be large, in bytes.
	maxGrown = 8 << 20
)

// Why a body cannot be read.
var (
	errSlow   = errors.New("the request's body did not arrive in time")
	errBroken = errors.New("the request's body is not what its headers say")
)

// read reads a body. Where it is larger than maxBody, whole is false, and rest has all of it as a stream. raw is set if
// whole is true. The error is that of [clientBody].
func read(r *http.Request) (raw []byte, rest io.Reader, whole bool, err error) {
	// Made, not grown: memory that is new need not be cleared.
	buf := bytes.NewBuffer(make([]byte, 0, max(0, min(r.ContentLength, maxGrown))+bytes.MinRead))
	// One byte more than the bound is read, to tell a body of that size from a larger one.
	if _, err = io.Copy(buf, io.LimitReader(r.Body, maxBody+1)); err != nil {
		return nil, nil, false, err
	}
	if buf.Len() > maxBody {
		return nil, io.MultiReader(buf, r.Body), false, nil
	}
	return buf.Bytes(), nil, true, nil
}

// clientBody is the body of a request whose client may be slow, but neither silent nor slower than minRate. Its errors
// wrap errSlow, errBroken or an [*http.MaxBytesError].
type clientBody struct {
	io.ReadCloser
	control *http.ResponseController
	idle    time.Duration
	arrived int           // bytes
	spent   time.Duration // in waiting for them: what reads the body may be slow as well
	failed  atomic.Pointer[error]
}

// err returns why the body could not be read; nil if it could, or nothing was read.
func (b *clientBody) err() error {
	if err := b.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Read reads what has arrived, with a deadline for it: the idle time, or less if the client is slow on the average.
func (b *clientBody) Read(p []byte) (int, error) {
	most := b.idle + time.Duration(b.arrived)*time.Second/minRate - b.spent
	began := time.Now()
	// Servers without deadlines, such as those of tests, have clients that can be trusted.
	_ = b.control.SetReadDeadline(began.Add(min(b.idle, most)))
	n, err := b.ReadCloser.Read(p)
	b.arrived, b.spent = b.arrived+n, b.spent+time.Since(began)
	if err == nil {
		return n, nil
	}
	over := (*http.MaxBytesError)(nil)
	switch {
	case err == io.EOF:
		// Answers may take any time, and so may the next request on this connection.
		_ = b.control.SetReadDeadline(time.Time{})
		return n, err
	case errors.Is(err, os.ErrDeadlineExceeded): // it stays: before it answers, the server would wait for the rest
		err = errors.Join(errSlow, err)
	case !errors.As(err, &over):
		err = errors.Join(errBroken, err)
	}
	b.failed.Store(&err)
	return n, err
}
