package proxy

import (
	"bytes"
	"io"
	"net/http"
	"time"
)

// Reading a client's body. It must be in memory as a whole before it can be edited, so its size and the sum of all
// sizes are bounded; how slowly it may come, package access knows.

const (
	// maxBody is the largest body that is read, in bytes: twice what Anthropic takes. Larger ones are streamed through.
	maxBody = 64 << 20
	// memoryWait is how long a request may wait for memory that others have.
	memoryWait = 10 * time.Second
	// maxGrown is how much memory a body gets because its client says that it will be large, in bytes.
	maxGrown = 8 << 20
)

// read reads a body. Where it is larger than maxBody, whole is false, and rest has all of it as a stream. raw is set if
// whole is true. The error is that of [access.Body].
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
