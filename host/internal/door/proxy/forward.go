package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/apis"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// The way to the provider and back. Nothing here knows conversations: it sends a body, passes the answer on as it
// arrives, and tells the rest of the room what the answer said about usage and limits.

// outcomeHeader tells the client what was done with its request.
const outcomeHeader = "X-Thresh-Outcome"

// exchange is a request on its way to the provider, and what was done with it. It travels in the context of the
// request, because the forwarder's callbacks get nothing else.
type exchange struct {
	server  *Server
	control *http.ResponseController // of the client's connection
	client  *access.Body             // nil if the request has no body
	route   route
	target  *url.URL
	alone   *alone // for messages without a request; nil otherwise
	// grant says whom the request is from, and profile what it is served with.
	grant   access.Grant
	profile *profile

	// body is what is sent; nil streams the client's: as it comes, or stream if that is set.
	body   []byte
	stream io.Reader
	length int64
	// again is the body without an encoding, until the answer begins; nil if it is not held in memory.
	again []byte
	// thinking is what the model does with thinking behind a change, and entries how many the request's branch has.
	thinking window.Thinking
	entries  int
	// decoded: body has no Content-Encoding, although the client's has one.
	decoded bool
	cancel  context.CancelFunc
	// sent is called when the answer begins; nil for a body that is not held in memory.
	sent func()

	// arrived is when the body was there, and begun when the request was sent.
	arrived, begun time.Time

	// outcome is one word. detail is what the header adds to it, "" for nothing.
	outcome, detail string

	reason  body.Reason // why it was passed, or failed
	branch  *branch     // nil if the request was passed
	session string
	size    turnSize
	// of is what a refusal of a request to the model teaches a limit of, and counted how large what was sent is, in
	// tokens of the host's count; 0 if the session has not prepared it.
	of      limited
	counted int
	// windows are what the answer told of the client's plan.
	windows []provider.Window
}

// pass notes why the request is forwarded as it came. why becomes a label of a counter and part of a header, so that it
// must be one of a fixed set.
func (x *exchange) pass(why body.Reason) {
	x.outcome, x.detail, x.reason = "passed", "reason="+string(why), why
	x.server.totals.passed(why)
}

// header is what the client is told of the outcome.
func (x *exchange) header() string {
	if x.detail == "" {
		return x.outcome
	}
	return x.outcome + "; " + x.detail
}

// exchangeKey is the key under which a request's context has its exchange.
type exchangeKey struct{}

// forward sends a request to the provider and its answer to the client, event by event. A client that goes away cancels
// the request. Nothing is sent twice: a body without GetBody is not repeated by the transport.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, x *exchange) {
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), exchangeKey{}, x))
	defer cancel()
	x.cancel = cancel
	s.totals.request(x)
	x.begun = time.Now()
	s.forwarder.ServeHTTP(w, r.WithContext(ctx))
}

const (
	// answerBegins is how long a provider may take until its answer begins, and answerIdle how long it may send nothing
	// of it, or its client take nothing. Both are far above what providers and clients allow; there is no limit on the
	// length of an answer.
	answerBegins = time.Hour
	answerIdle   = 15 * time.Minute
)

// attended cancels a request when nothing of its answer was read for too long.
type attended struct {
	io.ReadCloser
	idle  time.Duration
	timer *time.Timer
}

// Read gives the provider, and the client that takes what was read, time again.
func (a *attended) Read(p []byte) (int, error) {
	a.timer.Reset(a.idle)
	return a.ReadCloser.Read(p)
}

// Close stops the clock: an answer that has ended needs none.
func (a *attended) Close() error {
	a.timer.Stop()
	return a.ReadCloser.Close()
}

// rewrite makes the request that is sent. All headers of the client stay but those of the connection and, where the
// answer is read, Accept-Encoding. It also removes the header with which a user names the conversation: it is for the
// proxy alone.
func rewrite(p *httputil.ProxyRequest) {
	x := p.In.Context().Value(exchangeKey{}).(*exchange)
	p.Out.URL, p.Out.Host = x.target, x.target.Host
	switch {
	case x.body != nil:
		p.Out.Body, p.Out.ContentLength = &held{reader: bytes.NewReader(x.body)}, int64(len(x.body))
		// The exchange lives as long as the answer, and must not keep the body.
		x.body = nil
	case x.stream != nil:
		p.Out.Body, p.Out.ContentLength = io.NopCloser(x.stream), x.length
	}
	p.Out.Header.Del("X-Thresh-Session")
	// Clients accept encodings in which usage cannot be read on the way, such as br. An answer is small, compared to
	// the request that it is for.
	if x.route.task != pass {
		p.Out.Header.Set("Accept-Encoding", "identity")
	}
	if x.decoded {
		p.Out.Header.Del("Content-Encoding")
	}
}

// held is a body in memory, which is given up when it was sent: the answer to it may take long. A transport may close a
// body while it reads it.
type held struct {
	mu     sync.Mutex
	reader *bytes.Reader
}

// Read reads what is left, nothing after Close.
func (h *held) Read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reader.Read(p)
}

// Close gives the memory up, even if the exchange lives on.
func (h *held) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reader.Reset(nil)
	return nil
}

// answered begins to read the usage of an answer as it passes. The body is not touched. Answers to requests that are
// only passed, such as lists of models, are not read.
func (s *Server) answered(answer *http.Response) error {
	x := answer.Request.Context().Value(exchangeKey{}).(*exchange)
	answer.Header.Set(outcomeHeader, x.header())
	if x.sent != nil {
		x.sent()
	}
	answer.Body = &attended{answer.Body, s.idle, time.AfterFunc(s.idle, func() {
		s.logOnce("an answer stalled and was given up", "upstream", x.target.Host, "after", s.idle)
		x.cancel()
		_ = x.control.SetWriteDeadline(time.Now()) // writing to a client that reads nothing would never stop
	})}
	if x.route.task == turn {
		s.totals.began(x, answer.StatusCode)
		var calls *heard
		if s.options.Recall != nil && x.branch != nil && answer.StatusCode == http.StatusOK {
			calls = &heard{pieces: apis.Of(x.route.api).Calls}
			x.branch.heard.Store(calls)
		}
		if read := apis.Of(x.route.api).Plan; read != nil {
			x.windows = read(answer.Header.Get)
		}
		told := func(w []provider.Window) { x.windows = append(x.windows, w...) }
		answer.Body = newTee(answer, x.route.api, calls, told, func(u provider.Usage, refusal []byte) {
			s.finished(x, answer.StatusCode, u, refusal)
		})
	}
	return nil
}

// finished takes in what an answer told. It runs once for each answer, at its end or when the client goes away. refusal
// is the beginning of an answer that is no stream.
func (s *Server) finished(x *exchange, status int, u provider.Usage, refusal []byte) {
	if x.branch == nil {
		s.totals.answered(x, u, 0)
		s.planned(x, u, 0)
		return
	}
	charge := x.size.charge
	// After a dry run the report is of another request than the session prepared: it would teach the wrong size.
	if s.options.DryRun {
		saved := charge.ReportedWhole(u.Prompt())
		s.totals.answered(x, u, saved-charge.Saved)
		s.planned(x, u, saved)
		return
	}
	more := charge.Reported(u.Input, u.CacheRead, u.CacheWrite) - charge.Saved
	s.totals.answered(x, u, more)
	s.planned(x, u, charge.Saved+more)
	if w := s.options.Watch; w != nil && u.Prompt() > 0 {
		w.Usage(store.Key{Owner: x.grant.Name, ID: x.session}, watch.Usage{Prompt: u.Prompt(), Cached: u.CacheRead},
			x.size.at, more)
	}
	if u.Prompt() > 0 && x.counted > 0 {
		x.branch.report(s, u.Prompt(), x.counted)
	}
	if status == http.StatusOK && u.Prompt() > 0 {
		s.limits.accept(x.of, x.branch.conversation, u.Prompt())
	}
	// The refused request is not sent again by the proxy: its client decides, and the retry is made to fit.
	if r, named, ok := refusedAs(apis.Of(x.route.api), status, refusal, x.counted); ok {
		s.limits.learn(x.of, x.branch.conversation, r.Limit, named)
		s.totals.learned(x)
		// The limit may be the one that was known: then the host's count was wrong.
		if r.Tokens > 0 && x.counted > 0 {
			x.branch.report(s, r.Tokens, x.counted)
			x.branch.relimited.Store(true)
		}
		s.options.Logger.Info("the provider refused a request as too long: the next one is made to fit",
			"session", x.session, "limit", r.Limit)
	}
}

// report teaches the session what the provider counted. The request may have ended with its client.
func (b *branch) report(s *Server, promptTokens, counted int) {
	err := b.session.ReportUsage(context.Background(), promptTokens, counted)
	if err != nil && !b.session.Closed() {
		s.options.Logger.Warn("usage that was reported could not be stored", "session", b.session.ID(), "error", err)
	}
}

// unanswered answers for a provider that did not. 502 and not 500, so that clients treat it as they treat a provider
// that is down.
func (s *Server) unanswered(w http.ResponseWriter, r *http.Request, err error) {
	x := r.Context().Value(exchangeKey{}).(*exchange)
	// The body of a request that is streamed is read here. A connection that cannot be read cancels the request as
	// well.
	if x.client != nil && x.unread(w, x.client.Err()) {
		return
	}
	if errors.Is(err, context.Canceled) {
		panic(http.ErrAbortHandler) // the client went away; one that did not must not take silence for an empty answer
	}
	s.totals.began(x, 0)
	s.logOnce("the provider cannot be reached", "upstream", x.target.Host, "error", err)
	w.Header().Set(outcomeHeader, x.header())
	refuse(w, x.route, http.StatusBadGateway, "thresh could not reach "+x.target.Host+": "+err.Error())
}
