package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/thresh-dev/thresh/host"
)

const (
	// maxLine bounds one message, in bytes.
	maxLine = 256 << 20
	// maxUnanswered bounds how many requests are worked on or wait; reading stops until there are fewer.
	maxUnanswered = 512
)

// Serve serves h until in ends or ctx is done. At the end of in it finishes the requests that it has read; when ctx is
// done it cancels them. Both are a clean end, so that the error is about the streams only. It does not close h.
func Serve(ctx context.Context, h *host.Host, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &server{
		ctx: ctx, host: h, out: out, broken: cancel,
		sessions: map[string]*queue{}, slots: make(chan struct{}, maxUnanswered),
	}
	lines := make(chan []byte)
	ended := make(chan error, 1)
	go func() { ended <- readLines(ctx, in, lines) }() // blocked in Read, it outlives Serve; nothing waits for it
	for {
		select {
		case line := <-lines:
			s.handle(line)
		case err := <-ended:
			s.work.Wait()
			return errors.Join(err, s.writeError())
		case <-ctx.Done():
			s.work.Wait()
			return s.writeError()
		}
	}
}

type server struct {
	ctx    context.Context
	host   *host.Host
	broken context.CancelCauseFunc // called when out cannot be written to
	work   sync.WaitGroup
	slots  chan struct{}

	sessions map[string]*queue // used by the reading goroutine only

	mu       sync.Mutex // guards what follows
	out      io.Writer
	writeErr error
}

// handle starts what one line asks for.
func (s *server) handle(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	r, bad := parse(line)
	if bad != nil {
		id := r.ID
		if id == nil {
			id = json.RawMessage("null")
		}
		s.write(response{Version: "2.0", ID: id, Error: bad})
		return
	}
	select {
	case s.slots <- struct{}{}:
	case <-s.ctx.Done():
		return
	}
	s.work.Add(1)
	done := func(result any, err error) {
		s.reply(r.ID, result, err)
		<-s.slots
		s.work.Done()
	}
	if r.Method == "session.open" {
		done(s.open(r.Params))
		return
	}
	call, ok := methods()[r.Method]
	if !ok {
		done(nil, unknownMethod(r.Method))
		return
	}
	q, err := s.queueOf(r.Params)
	if err != nil {
		done(nil, err)
		return
	}
	if r.Method == "session.close" {
		delete(s.sessions, q.session.ID())
	}
	q.push(func() { call(s.ctx, q.session, r.Params, done) })
}

// open opens a session at once, so that requests that follow find it.
func (s *server) open(raw json.RawMessage) (any, error) {
	var p struct {
		ID       string         `json:"id"`
		Settings map[string]any `json:"settings"`
	}
	if err := decodeParams(raw, &p); err != nil {
		return nil, err
	}
	session, err := s.host.Session(host.SessionOptions{ID: p.ID, Settings: p.Settings})
	if err != nil {
		return nil, err
	}
	s.sessions[session.ID()] = &queue{session: session}
	return struct {
		Session string `json:"session"`
	}{session.ID()}, nil
}

func (s *server) queueOf(raw json.RawMessage) (*queue, error) {
	var p struct {
		Session string `json:"session"`
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.Session == "" {
		return nil, &Error{Code: CodeParams, Message: `params: "session" is missing: it is what session.open returned`}
	}
	q := s.sessions[p.Session]
	if q == nil {
		return nil, &Error{Code: CodeFailed, Message: fmt.Sprintf("session %q is not open", p.Session), Data: &ErrorData{Kind: "session"}}
	}
	return q, nil
}

func (s *server) reply(id json.RawMessage, result any, err error) {
	if id == nil {
		return // a notification
	}
	r := response{Version: "2.0", ID: id, Result: result}
	if err != nil {
		r.Result, r.Error = nil, failure(err)
	}
	s.write(r)
}

// write sends one message in one piece.
func (s *server) write(r response) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		buf.Reset()
		_ = enc.Encode(response{Version: "2.0", ID: r.ID, Error: &Error{Code: CodeFailed, Message: "cannot encode the result: " + err.Error()}})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writeErr != nil {
		return
	}
	if _, err := s.out.Write(buf.Bytes()); err != nil {
		s.writeErr = fmt.Errorf("write a reply: %w", err)
		s.broken(s.writeErr)
	}
}

func (s *server) writeError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeErr
}

// queue runs the requests of one session one after another, in the order in which they came.
type queue struct {
	session *host.Session

	mu      sync.Mutex
	waiting []func()
	running bool
}

func (q *queue) push(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, f)
	if !q.running {
		q.running = true
		go q.run()
	}
}

func (q *queue) run() {
	for {
		q.mu.Lock()
		if len(q.waiting) == 0 {
			q.running = false
			q.mu.Unlock()
			return
		}
		f := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.mu.Unlock()
		f()
	}
}

// readLines sends the lines of in until it ends.
func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(make([]byte, 0, 64<<10), maxLine)
	for scanner.Scan() {
		select {
		case lines <- bytes.Clone(scanner.Bytes()):
		case <-ctx.Done():
			return nil
		}
	}
	if err := scanner.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return fmt.Errorf("read a request: a line of more than %d bytes", maxLine)
		}
		return fmt.Errorf("read a request: %w", err)
	}
	return nil
}
