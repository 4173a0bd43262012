package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// exchange watches a request and its answer: it enforces the idle timeout, bounds what is read, and returns answers
// that are not a stream as errors. It is used by the attempt's goroutine alone, but for sent.
type exchange struct {
	idle  time.Duration
	timer *time.Timer // nil without an idle timeout
	limit int64       // of the answer, in bytes
	head  []byte      // the first bytes of the answer, unredacted
	// sent is set once something of the request may have arrived, by the connection's goroutine.
	sent atomic.Bool
	// err is why the answer could not be read to its end, which the reader of events hides.
	err error
}

var (
	errSilent  = errors.New("the server was silent for too long")
	errTimeout = errors.New("the call took too long")
)

const (
	// Bytes read of an error response, and kept of any answer to describe a failure.
	maxErrorBody = 64 << 10
	maxHead      = 1 << 10
)

// newExchange starts the idle timeout; 0 is none. cancel must end the attempt.
func newExchange(idle time.Duration, limit int64, cancel context.CancelCauseFunc) *exchange {
	x := &exchange{idle: idle, limit: limit}
	if idle > 0 {
		x.timer = time.AfterFunc(idle, func() { cancel(errSilent) })
	}
	return x
}

// alive restarts the idle timeout.
func (x *exchange) alive() {
	if x.timer != nil {
		x.timer.Reset(x.idle)
	}
}

// end stops the idle timeout. Nothing is read afterwards.
func (x *exchange) end() {
	if x.timer != nil {
		x.timer.Stop()
	}
}

type refusal struct {
	status int
	header http.Header
	body   []byte
}

func (r *refusal) Error() string { return fmt.Sprintf("the server answered with status %d", r.status) }

// do makes the request. An answer that is not an event stream becomes a [refusal]. Some local servers send no type.
func (x *exchange) do(req *http.Request, client *http.Client) (*http.Response, error) {
	res, err := client.Do(req.WithContext(httptrace.WithClientTrace(req.Context(),
		&httptrace.ClientTrace{WroteHeaders: func() { x.sent.Store(true) }})))
	if err != nil {
		return nil, err
	}
	x.sent.Store(true)
	x.alive()
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode == http.StatusOK && (kind == "text/event-stream" || kind == "") {
		res.Body = &meter{ReadCloser: res.Body, exchange: x}
		return res, nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(&meter{ReadCloser: io.NopCloser(io.LimitReader(res.Body, maxErrorBody)), exchange: x})
	if err != nil && req.Context().Err() != nil {
		return nil, err
	}
	// The status is valid even if the body broke off.
	return nil, &refusal{status: res.StatusCode, header: res.Header, body: body}
}

type meter struct {
	io.ReadCloser
	exchange *exchange
	read     int64
}

// Read returns bytes with [ErrTooLong]: a finish reason among them still counts.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	x := m.exchange
	if err != nil && err != io.EOF {
		x.err = err
	}
	if n > 0 {
		x.alive()
		x.head = append(x.head, p[:min(n, maxHead-len(x.head))]...)
		if m.read += int64(n); m.read > x.limit {
			return n, ErrTooLong
		}
	}
	return n, err
}
