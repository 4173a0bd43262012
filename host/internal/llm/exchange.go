package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"
)

// exchange watches one request and its answer on the wire: it enforces the idle timeout, bounds what is read, and
// intercepts error responses before the provider's library converts them.
type exchange struct {
	idle   time.Duration
	cancel context.CancelCauseFunc
	// limit is how many bytes the answer may have.
	limit int64

	mu    sync.Mutex
	timer *time.Timer
	over  bool
	head  []byte // the first bytes of the answer
	err   error  // why the answer could not be read to its end
}

// Reasons for which an exchange is cancelled.
var (
	errSilent  = errors.New("the server was silent for too long")
	errTimeout = errors.New("the call took too long")
)

const (
	maxErrorBody = 64 << 10
	maxHead      = 1 << 10
)

func newExchange(idle time.Duration, limit int64, cancel context.CancelCauseFunc) *exchange {
	x := &exchange{idle: idle, cancel: cancel, limit: limit}
	if idle > 0 {
		x.timer = time.AfterFunc(idle, func() { cancel(errSilent) })
	}
	return x
}

// alive restarts the idle timeout.
func (x *exchange) alive() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.timer != nil && !x.over {
		x.timer.Reset(x.idle)
	}
}

// end stops the idle timeout.
func (x *exchange) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
	if x.timer != nil {
		x.timer.Stop()
	}
}

// received is the beginning of the answer.
func (x *exchange) received() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return string(x.head)
}

// broke returns why the answer could not be read to its end; nil if it could.
func (x *exchange) broke() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err
}

// refusal is an answer that is not a stream.
type refusal struct {
	status int
	header http.Header
	body   []byte
}

func (r *refusal) Error() string { return fmt.Sprintf("the server answered with status %d", r.status) }

// middleware wraps the HTTP call. Any answer that is not an event stream becomes a [refusal].
func (x *exchange) middleware(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	res, err := next(req)
	if err != nil {
		return res, err
	}
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

// meter is a body under watch.
type meter struct {
	io.ReadCloser
	exchange *exchange
	read     int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	x := m.exchange
	if err != nil && err != io.EOF {
		x.mu.Lock()
		x.err = err
		x.mu.Unlock()
	}
	if n > 0 {
		x.alive()
		x.mu.Lock()
		x.head = append(x.head, p[:min(n, maxHead-len(x.head))]...)
		x.mu.Unlock()
		if m.read += int64(n); m.read > x.limit {
			return n, ErrTooLong
		}
	}
	return n, err
}
