package stdio

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
	"github.com/thresh-dev/thresh/host/internal/service"
)

// One connection: a goroutine reads lines, requests run on others, and replies are written whole under a lock.
// Reading never waits for a reply to be read, or an agent that sends first and reads later would wait for ever.

const (
	// maxLine bounds one message, in bytes. Far above any request of an agent, and below what a machine can hold once
	// more while it is decoded.
	maxLine = 256 << 20
	// maxUnanswered bounds how many requests are in progress or queued; at the bound, reading stops. An agent that
	// never reads its replies would otherwise fill the memory with them.
	maxUnanswered = 512
)

// Serve serves h until in ends or ctx is done. At the end of in it finishes the requests that it has read; if ctx
// ends first, it cancels them and returns within a few seconds, also if out is not read. Both
// are regular ends, so the error is about the streams only. Open sessions are closed; h is not. A session whose
// transcript cannot be written stays open, and [host.Host.Close] reports it.
//
// alone makes messages small that come without a session.
//
// What a client changes of the host for all, such as a plugin that it resets, is logged to log.
func Serve(ctx context.Context, h *host.Host, alone api.Alone, in io.Reader, out io.Writer,
	log hclog.Logger) error {
	return serve(ctx, h, alone, in, out, log, maxLine)
}

// serve is Serve with a bound on the length of a line, which tests make small.
func serve(ctx context.Context, h *host.Host, alone api.Alone, in io.Reader, out io.Writer,
	log hclog.Logger, longest int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &server{
		ctx: ctx, host: h, service: service.New(h), alone: alone, log: log, out: out, broken: cancel,
		queues: queues{byID: map[string]*queue{}}, slots: make(chan struct{}, maxUnanswered),
	}
	// Unbuffered: a line is read only when the one before was taken, so that maxUnanswered bounds what is in memory.
	lines := make(chan jsonrpc.Line)
	ended := make(chan error, 1)
	go func() { ended <- jsonrpc.ReadLines(ctx, in, longest, lines) }() // may outlive Serve, blocked in Read
	for {
		select {
		case l := <-lines:
			s.handle(l)
		case err := <-ended:
			return errors.Join(err, s.finish())
		case <-ctx.Done():
			return s.finish()
		}
	}
}

// server is the state of one connection. Requests run on goroutines of their own; handle is called by one goroutine, in
// the order of the lines.
type server struct {
	ctx     context.Context
	host    *host.Host
	service *service.Service
	alone   api.Alone
	log     hclog.Logger
	broken  context.CancelCauseFunc // ends Serve; called when out cannot be written to
	queues  queues
	work    sync.WaitGroup
	// slots has an element for each request that is not answered yet.
	slots chan struct{}

	inProgress sync.Map // the context.CancelCauseFunc of each request that is not answered yet, by its id as JSON

	writing atomic.Int64 // when the write in progress began, in Unix nanoseconds; 0: there is none

	mu       sync.Mutex // guards what follows; held while a reply is written, however long the agent does not read
	out      io.Writer
	writeErr error
}

const (
	// unreadTimeout bounds how long a reply may be stuck once Serve is told to end.
	unreadTimeout = time.Second
	// endTimeout bounds how long cancelled requests may take: longer than a plugin that has to be killed.
	endTimeout = 7 * time.Second
)

// finish waits for the requests in progress and closes the sessions. An agent that does not read its replies must not
// keep the process from ending, so after ctx the wait is bounded: what is stuck then outlives Serve, with its
// sessions, which end with the host.
func (s *server) finish() error {
	idle := make(chan struct{})
	go func() { s.work.Wait(); close(idle) }()
	select {
	// All that was read is answered.
	case <-idle:
	case <-s.ctx.Done():
		if err := s.finishSoon(idle); err != nil {
			return err
		}
	}
	s.queues.close()
	return s.writeError()
}

// finishSoon waits for what was cancelled, but no longer than the limits above allow.
func (s *server) finishSoon(idle <-chan struct{}) error {
	start := time.Now()
	check := time.NewTicker(unreadTimeout / 20)
	defer check.Stop()
	for {
		select {
		case <-idle:
			return nil
		case now := <-check.C:
			if began := s.writing.Load(); began != 0 &&
				// The smaller of the two: a write that was stuck before the end was asked for gets the timeout from
				// then on.
				min(now.Sub(start), now.Sub(time.Unix(0, began))) > unreadTimeout {
				return errors.New("ended with replies that were not read: standard output is full and nothing reads it")
			}
			if now.Sub(start) > endTimeout {
				return fmt.Errorf("ended with requests that did not stop within %v", endTimeout)
			}
		}
	}
}

func (s *server) handle(l jsonrpc.Line) {
	text := bytes.TrimSpace(l.Text)
	// Blank lines between messages are allowed.
	if len(text) == 0 && l.Problem == nil {
		return
	}
	r, bad := jsonrpc.Request{}, l.Problem
	if bad == nil {
		r, bad = jsonrpc.Parse(text)
	}
	select {
	// Waits while too many requests are unanswered; nothing is read meanwhile.
	case s.slots <- struct{}{}:
	case <-s.ctx.Done():
		return
	}
	s.work.Add(1)
	if bad != nil {
		go func() { // reading must go on while the reply is not read
			defer s.release()
			s.write(jsonrpc.Response{ID: r.ReplyID(), Error: bad})
		}()
		return
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	// A notification has no id by which it could be cancelled. Of two requests with one id, the later one can be
	// cancelled; agents must not do that.
	if r.ID != nil {
		s.inProgress.Store(string(r.ID), cancel)
	}
	done := func(result any, err error) {
		defer s.release()
		cancel(nil)
		s.inProgress.Delete(string(r.ID))
		s.reply(r.ID, result, err)
	}
	if err := s.start(ctx, r, done); err != nil {
		// In a goroutine, as writing may block while reading must go on.
		go done(nil, err)
	}
}

func (s *server) release() {
	<-s.slots
	s.work.Done()
}

// start queues a request after those of the same session. If it returns an error, done is not called.
func (s *server) start(ctx context.Context, r jsonrpc.Request, done func(any, error)) error {
	m, err := service.Find(api.Run, r.Method)
	if err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeUnknownMethod, Message: err.Error()}
	}
	if len(r.Params) == 0 || string(r.Params) == "null" { // libraries send either for none
		r.Params = json.RawMessage("{}") // required members are then reported as missing
	}
	c := &request{ctx: ctx, method: m, done: done}
	c.do = func(f func() (any, error)) (any, error) { return service.Do(s.service, m.Name, f) }
	if c.params, err = c.do(func() (any, error) { return service.Read(m, bytes.NewReader(r.Params)) }); err != nil {
		return err
	}
	switch m.About {
	case api.Opening, api.Ending:
		s.bounding(c)
	case api.TheHost:
		go func() {
			done(c.do(func() (any, error) {
				return m.Call(ctx, api.Target{Host: s.caller(), Alone: s.alone, Connection: s}, c.params)
			}))
		}()
	case api.ASession:
		id := service.SessionOf(c.params)
		if !s.queues.push(id, job{holds: m.Order == api.Last, run: func(q *queue) {
			if _, err := c.do(func() (any, error) { return nil, s.again(q, id) }); err != nil {
				done(nil, err)
				return
			}
			c.start(q)
		}}, false) {
			return service.NotOpen(id)
		}
	}
	return nil
}

// caller is the host as the agent has it.
func (s *server) caller() *service.Caller {
	return &service.Caller{Host: s.host, Service: s.service, Door: api.Run, From: "standard input", Log: s.log,
		Limits: api.Limits{RequestBytes: maxLine, Unanswered: maxUnanswered}}
}

// again sees to it that the session of a queue can be used: one that has ended by itself, such as after a panic, is
// opened again. The error says that there is none.
func (s *server) again(q *queue, id string) (err error) {
	// It was open when the request came and was closed by one before it.
	if q.session == nil {
		return service.NotOpen(id)
	}
	if !q.session.Closed() {
		return nil
	}
	q.session, err = s.host.Open(s.ctx, api.OpenRequest{ID: id, Existing: true})
	if errors.Is(err, host.ErrNoSession) {
		return service.NotOpen(id)
	}
	return err
}

// bounding queues the opening or the deletion of a session, which need not be open, after earlier requests for the same
// id, such as closing an earlier session. The queue exists before the session does, so that requests sent right after
// this one wait for it.
func (s *server) bounding(c *request) {
	if r, opens := c.params.(*api.OpenRequest); opens && r.ID == "" {
		// 130 bits: two sessions never get the same id.
		r.ID = rand.Text()
	}
	s.queues.push(service.SessionOf(c.params), job{holds: true, run: func(q *queue) {
		c.done(c.do(func() (any, error) {
			before := q.session
			result, err := c.method.Call(c.ctx, api.Target{Host: opening{s.caller(), s.host, q}}, c.params)
			if opened := q.session; err != nil && opened != nil && opened != before { // it cannot be read
				q.session = before
				err = errors.Join(err, opened.Close(c.ctx))
			}
			return result, err
		}))
	}}, true)
}

// reply sends the answer to a request. Exactly one is sent for each id.
func (s *server) reply(id json.RawMessage, result any, err error) {
	if id == nil {
		return // a notification
	}
	r := jsonrpc.Response{ID: id, Result: result}
	if err != nil {
		r.Result, r.Error = nil, failure(result, err)
	}
	s.write(r)
}

func (s *server) write(r jsonrpc.Response) {
	line, err := service.Do(s.service, "reply", func() ([]byte, error) { return jsonrpc.Encode(r), nil })
	if err != nil {
		line = jsonrpc.Encode(jsonrpc.Response{ID: r.ID, Error: failure(nil, err)})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// After one failed write the stream may end in the middle of a message.
	if s.writeErr != nil {
		return
	}
	s.writing.Store(time.Now().UnixNano())
	defer s.writing.Store(0)
	if _, err := s.out.Write(line); err != nil {
		s.writeErr = fmt.Errorf("write a reply: %w", err)
		// Ends Serve: without replies there is nothing that it could do.
		s.broken(s.writeErr)
	}
}

func (s *server) writeError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeErr
}
