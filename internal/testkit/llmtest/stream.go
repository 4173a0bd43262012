package llmtest

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// exchange is a request that is being answered.
type exchange struct {
	w    http.ResponseWriter
	ctx  context.Context
	wire modelapi.Wire
	body object
	req  Request
}

// answer sends a reply, or misbehaves as its Fault says. It returns when the client has its answer, or has gone.
func (x exchange) answer(reply Reply) {
	maps.Copy(x.w.Header(), reply.Header)
	switch {
	case reply.Fault == FaultStatus:
		x.fail(reply.failure())
	case reply.Fault == FaultGarbage:
		x.w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(x.w, reply.Text)
	// No header is sent either: this is what a server does that accepts connections and nothing more.
	case reply.Fault == FaultHang:
		<-x.ctx.Done()
	case x.req.Stream:
		x.stream(reply)
	// Without a stream there is no middle: the connection breaks before the answer.
	case reply.Fault == FaultReset || reply.Fault == FaultCut:
		// net/http closes the connection for it, and logs nothing.
		panic(http.ErrAbortHandler)
	case reply.Fault == FaultStall || reply.Fault == FaultEndless:
		<-x.ctx.Done()
	case reply.Fault == FaultInStream:
		x.fail(reply.failure())
	default:
		if wait(x.ctx, reply.Pace) {
			whole, _, _ := x.wire.Answer(x.body, reply.wire(x.req), x.req.Number)
			writeJSON(x.w, http.StatusOK, whole)
		}
	}
}

// fail sends an error that is not part of a stream, with the request id header by which users report problems.
func (x exchange) fail(f failure) {
	x.w.Header().Set("Request-Id", "req_test")
	writeJSON(x.w, f.status, x.wire.Fail(f.status, f.kind, f.code, f.message))
}

// stream sends the events of a reply up to the point where its Fault strikes.
func (x exchange) stream(reply Reply) {
	x.w.Header().Set("Content-Type", "text/event-stream")
	x.w.Header().Set("Cache-Control", "no-cache")
	x.w.WriteHeader(http.StatusOK)
	if reply.Fault == FaultEndless && reply.Text == "" {
		reply.Text = "and on "
	}
	_, events, closing := x.wire.Answer(x.body, reply.wire(x.req), x.req.Number)
	if reply.Fault == FaultGarbledStream {
		x.send(reply.Pace, events[0], []byte("event: content_block_delta\ndata: "+reply.Text+"\n\n"))
		return
	}
	if !x.send(reply.Pace, events[:closing]...) {
		return
	}
	switch reply.Fault {
	// The stream ends in order, but without the event that ends an answer: only the protocol tells.
	case FaultCut:
	case FaultReset:
		panic(http.ErrAbortHandler)
	// The status is 200 already, so that only the event tells.
	case FaultInStream:
		f := reply.failure()
		text, _ := json.Marshal(x.wire.Fail(f.status, f.kind, f.code, f.message))
		x.send(reply.Pace, []byte("event: error\ndata: "+string(text)+"\n\n"))
	case FaultStall:
		<-x.ctx.Done()
	case FaultEndless:
		for x.send(reply.Pace, events[closing-1]) {
		}
	default:
		x.send(reply.Pace, events[closing:]...)
	}
}

// send writes and flushes events, each after a pause. false: the client has disconnected.
func (x exchange) send(pace time.Duration, events ...[]byte) bool {
	for _, e := range events {
		if !wait(x.ctx, pace) {
			return false
		}
		if _, err := x.w.Write(e); err != nil {
			return false
		}
		// Each event by itself: a client that waits for the next one must have got this one.
		if http.NewResponseController(x.w).Flush() != nil {
			return false
		}
	}
	return true
}

// wait pauses for d. It returns false if the client disconnected.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
