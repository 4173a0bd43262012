package proxy

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// maxBody is the largest body that is read, in bytes: twice what Anthropic takes. Larger ones are streamed through.
	maxBody = 64 << 20
	// maxReading bounds the memory of bodies that are in work, of all requests together, in bytes.
	maxReading = 512 << 20
	// bodyIdle is how long a client may send nothing of its body.
	bodyIdle = time.Minute
)

// errSlow: a client stopped sending its body.
var errSlow = errors.New("the request's body did not arrive in time")

// read reads a body. Where it is larger than maxBody, whole is false, and rest has all of it as a stream. raw is set
// if whole is true. The error is always [errSlow], joined with what the connection reported, such as an
// [*http.MaxBytesError].
func read(w http.ResponseWriter, r *http.Request, idle time.Duration) (raw []byte, rest io.Reader, whole bool, err error) {
	control := http.NewResponseController(w)
	var buf bytes.Buffer
	if n := r.ContentLength; n > 0 && n <= maxBody {
		buf.Grow(int(n) + bytes.MinRead)
	}
	// One byte more than the bound is read, to tell a body of that size from a larger one.
	body := idleReader{r.Body, control, idle}
	_, err = io.Copy(&buf, io.LimitReader(body, maxBody+1))
	if err != nil {
		// The deadline stays: before it answers, the server would wait for the rest of the body.
		return nil, nil, false, errors.Join(errSlow, err)
	}
	// Streams may take any time, and so may the next request on this connection.
	_ = control.SetReadDeadline(time.Time{})
	if buf.Len() > maxBody {
		return nil, io.MultiReader(&buf, r.Body), false, nil
	}
	return buf.Bytes(), nil, true, nil
}

// idleReader gives each read a deadline of its own, so that a client may be slow but not silent.
type idleReader struct {
	io.Reader
	control *http.ResponseController
	idle    time.Duration
}

func (i idleReader) Read(p []byte) (int, error) {
	// Servers without deadlines, such as those of tests, have clients that can be trusted.
	_ = i.control.SetReadDeadline(time.Now().Add(i.idle))
	return i.Reader.Read(p)
}
