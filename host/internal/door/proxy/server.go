package proxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/semaphore"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/metrics"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// A request's way: who may ask, what the address is about, the body within bounds, the edit, the provider. Up to the
// edit a request can be refused; from then on it is forwarded, as edited or as it came.

// Options say what a server stands between.
type Options struct {
	// Host owns the sessions, and keeps them in a store, if only in memory: branches are made from the logs of
	// others. It is not closed by the server.
	Host *window.Host
	// Upstreams are the providers; none is nil.
	Upstreams Upstreams
	// Client is the provider of requests that do not show it: "anthropic", "openai" or "gemini"; "" for none, where
	// clients of several come.
	Client string
	// DryRun sends the client's bytes always. What would have been sent is counted.
	DryRun bool
	// Recall gives back what was removed; nil for a proxy that does not.
	Recall *Recall
	// Measured is told of each request to a model; nil for none.
	Measured *metrics.Proxy
	// Watch is told of turns and of usage, for people; nil for none.
	Watch *watch.Recorder
	// Guard knows the tokens of clients, whose sessions are apart and whose limits hold. Nil knows none, and is Open.
	Guard *access.Guard
	// Open takes clients that send no token for the local user. For loopback only.
	Open bool
	// Logger receives what goes wrong: each kind of failure once a minute at most, never content or keys.
	Logger hclog.Logger
}

// Server is the proxy. Close it before the host.
type Server struct {
	options Options
	secret  []byte // hashes credentials; of this process
	// transport and forwarder are made once: connections to providers are shared by all clients.
	transport *http.Transport
	forwarder *httputil.ReverseProxy
	threads   threads
	limits    limits
	profiles  profiles
	totals    totals
	plans     plans
	logged    logged
	reading   *semaphore.Weighted // bytes of bodies in work, mostReading at a time
	working   working
	// mostReading is at least what two of the largest bodies have.
	mostReading int64
	// closing are the ends of branches that make room for others.
	closing    sync.WaitGroup
	idle       time.Duration // answerIdle, but for tests
	memoryWait time.Duration // memoryWait, but for tests
}

// New returns a server.
func New(o Options) *Server {
	if o.Guard == nil {
		o.Guard, o.Open = access.NewGuard(store.NewMemory(), "", o.Logger), true
	}
	s := &Server{options: o, idle: answerIdle, memoryWait: memoryWait, secret: make([]byte, 32),
		totals: totals{measured: o.Measured}}
	most := o.Host.Config().Settings().Sessions.MaxMemory
	s.mostReading = share(most, 2, 2*maxBody)
	s.reading = semaphore.NewWeighted(s.mostReading)
	s.working = newWorking(share(most, 4, leastWork))
	_, _ = rand.Read(s.secret) // never fails
	s.transport = http.DefaultTransport.(*http.Transport).Clone()
	// The client decides which encodings it can read; what arrives is passed on as it came.
	s.transport.DisableCompression = true
	s.transport.MaxIdleConnsPerHost = 64
	// A provider may think for long before it answers at all. Clients have limits of their own.
	s.transport.ResponseHeaderTimeout = answerBegins
	// Idle connections are closed before providers close them: a request on a connection that is being closed fails,
	// and is not repeated.
	s.transport.IdleConnTimeout = 30 * time.Second
	s.forwarder = &httputil.ReverseProxy{
		Rewrite: rewrite, ModifyResponse: s.answered, ErrorHandler: s.unanswered, Transport: resending{s.transport, s},
		FlushInterval: -1, // each event is passed on when it arrives
		ErrorLog:      o.Logger.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	return s
}

// Server returns an http.Server for s, with time limits for what a client may take to ask. Answers may take any time.
func (s *Server) Server() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 3 * time.Minute, MaxHeaderBytes: 1 << 20,
		ErrorLog: s.options.Logger.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
}

// Close closes the sessions and the connections to the providers. Requests must have ended.
func (s *Server) Close() {
	s.closing.Wait()
	for _, b := range s.threads.all() {
		b.mu.Lock()
		s.closeBranch(b)
		b.mu.Unlock()
	}
	s.transport.CloseIdleConnections()
}

// Totals returns what happened so far.
func (s *Server) Totals() Totals { return s.totals.now() }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &begun{ResponseWriter: w}
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			if err := s.options.Host.Panicked("proxy", p); !out.yes {
				refuse(w, s.routeOf(r), http.StatusInternalServerError, "thresh: "+err.Error())
				return
			}
		}
		panic(http.ErrAbortHandler) // the client must not take a part of an answer for all of it
	}()
	s.answer(out, r)
}

// begun is an answer, and whether it has begun.
type begun struct {
	http.ResponseWriter
	yes bool
}

func (b *begun) Write(part []byte) (int, error) { b.yes = true; return b.ResponseWriter.Write(part) }
func (b *begun) WriteHeader(status int)         { b.yes = true; b.ResponseWriter.WriteHeader(status) }
func (b *begun) Unwrap() http.ResponseWriter    { return b.ResponseWriter }

// answer answers one request.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	asked := take(r)
	rt := s.routeOf(r)
	if parts := strings.Split(r.URL.Path, "/"); slices.Contains(parts, "..") || slices.Contains(parts, ".") {
		// It would be about something outside of the upstream's base URL.
		s.options.Guard.Stranger(w, r)
		refuse(w, rt, http.StatusBadRequest, "thresh: the path must not have . or .. in it")
		return
	}
	grant, end, err := s.admit(r, asked.token)
	if err != nil {
		s.options.Guard.Stranger(w, r)
		s.refused(w, r, rt, err)
		return
	}
	defer end() // when the answer has passed
	x := &exchange{server: s, control: http.NewResponseController(w), route: rt, grant: grant, outcome: "passed"}
	r, x.client = s.options.Guard.Bound(r.Context(), w, r, grant, cmp.Or(grant.Limits.RequestBytes, math.MaxInt))
	if s.options.Recall != nil && r.URL.Path == mcp.Path {
		s.recall(w, r, grant)
		return
	}
	// Before it is looked for: whether there is such a profile is nobody else's business.
	if err := s.mayChoose(grant, asked.profile); err != nil {
		refuse(w, rt, http.StatusForbidden, err.Error())
		return
	}
	if x.profile, err = s.profile(asked.profile); err != nil {
		refuse(w, rt, http.StatusNotFound, err.Error())
		return
	}
	// A client that takes this for its HTTP proxy sends other servers' addresses, also with CONNECT.
	if r.URL.Host != "" {
		refuse(w, rt, http.StatusMisdirectedRequest, "thresh: this is not a proxy for other servers, such as "+
			"HTTP_PROXY names: give its address to the agent as the base URL of its provider")
		return
	}
	// Before anything is forwarded: a tunnel would carry conversations past the host.
	if r.Header.Get("Upgrade") != "" {
		// Codex asks for a WebSocket first, and goes on over HTTP when it is told so.
		refuse(w, rt, http.StatusUpgradeRequired, "WebSockets are not supported: use HTTP")
		return
	}
	if rt.provider == unknown {
		refuse(w, rt, http.StatusBadRequest, fmt.Sprintf("thresh: nothing in %s %.200q tells which provider it is for, so "+
			"it was sent to none: send the key in x-api-key (Anthropic), x-goog-api-key (Gemini) or Authorization (OpenAI)",
			r.Method, r.URL.Path))
		return
	}
	x.target = x.profile.upstreams.target(rt, r)
	if rt.task == pass {
		s.forward(w, r, x)
		return
	}
	s.serve(w, r, x)
}

// serve answers a request that has a conversation.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, x *exchange) {
	if x.route.task == turn {
		defer s.options.Measured.Begin(string(x.route.api))()
	}
	// What a body takes in memory: itself, what it becomes, and the index of its values.
	encoding, size := r.Header.Get("Content-Encoding"), int64(maxBody)
	if n := r.ContentLength; n >= 0 && n < maxBody && encoding == "" {
		size = max(n, 1<<10)
	}
	// A client that sends slowly must not hold up all others: without memory a request is streamed through.
	wait, stop := context.WithTimeout(r.Context(), s.memoryWait)
	err := s.reading.Acquire(wait, size)
	stop()
	if err != nil {
		x.pass("busy")
		s.forward(w, r, x)
		return
	}
	// When the answer begins, or there is none: an answer may be streamed for a long time.
	x.sent = sync.OnceFunc(func() { s.reading.Release(size) })
	defer x.sent()
	raw, rest, whole, err := read(r)
	if err != nil {
		x.unread(w, err)
		return
	}
	x.arrived = time.Now()
	// No provider takes such a body today. If one does, it gets it.
	if !whole {
		x.pass("too-large")
		x.stream, x.length = rest, r.ContentLength
		s.forward(w, r, x)
		return
	}
	plain, err := decode(encoding, raw)
	if err != nil {
		x.pass("encoded-body")
		x.body = raw
		s.forward(w, r, x)
		return
	}
	out, err := s.edit(r, x, plain)
	if err != nil {
		refuse(w, x.route, http.StatusBadGateway, "thresh: "+store.Public(err))
		return
	}
	// A body that was edited is sent as it is: every provider takes that.
	if x.body, x.decoded = out, encoding != ""; bytes.Equal(out, plain) {
		x.body, x.decoded = raw, false
	}
	x.again = out
	s.forward(w, r, x)
}

// edit returns the body to send instead of the client's. The error is that the client is gone.
func (s *Server) edit(r *http.Request, x *exchange, raw []byte) (out []byte, err error) {
	// A panic here must cost one request its savings, not the agent its turn.
	defer func() {
		if p := recover(); p != nil {
			out, err = s.failed(x, raw, nil, fmt.Errorf("%w: %w", errPanic, s.options.Host.Panicked("proxy", p)))
		}
	}()
	wait, stop := context.WithTimeout(r.Context(), s.memoryWait)
	defer stop()
	var room room
	defer s.working.leave(&room)
	req, err := body.IndexWithin(x.route.api, raw, func(values int) error { return s.working.enter(wait, &room, values) })
	if errors.Is(err, errNoRoom) {
		x.pass("busy")
		return raw, nil
	}
	if err != nil {
		x.pass(body.Unknown)
		s.logOnce("unknown form of a request", "api", x.route.api, "error", err)
		return raw, nil
	}
	if x.route.model != "" {
		req.Model = x.route.model
	}
	if req.Reason == "" && compactionHeader(r.Header) {
		req.Reason = body.Compaction
	}
	x.model(req, r.Header.Get("Anthropic-Beta"))
	switch {
	// What the provider summarises by itself is the whole history: the client drops all of it afterwards.
	case req.Reason == body.Compaction && x.route.task == turn && !req.Trigger && req.Editable() && !s.fits(r, x, req):
		x.detail = "reason=" + string(req.Reason)
		return s.turn(r, x, req)
	case req.Reason != "":
		x.pass(req.Reason)
		return s.passed(r, x, req), nil
	case x.route.task == count:
		return s.counted(r, x, req), nil
	case !req.Tools:
		if out, ok := s.aside(r, x, req); ok {
			return out, nil
		}
	}
	return s.turn(r, x, req)
}

// What may go wrong in a turn that is none of the host's errors.
var (
	// errPlan: a view could not be written in the API's form.
	errPlan  = errors.New("the prepared history does not fit this request")
	errPanic = errors.New("panic")
)
