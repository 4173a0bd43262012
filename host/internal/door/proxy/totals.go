package proxy

import (
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/internal/metrics"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
)

// Totals are what happened since a server began. Tokens are of the host's count, but for Usage.
type Totals struct {
	// Requests are those to a model. Of them, Edited had a conversation that was prepared, and Passed were forwarded as
	// they came, by the reason.
	Requests, Edited int
	Passed           map[body.Reason]int
	// Others are requests that are about something else than a turn, such as a list of models.
	Others int
	// Failed could not be prepared; Learned taught a context limit.
	Failed, Learned int
	// Resent were sent once more without thinking, because the provider refused it behind a change.
	Resent int
	// Errors were answered with a status of 400 or more, the last of them with LastError; Unreached did not come to the
	// provider.
	Errors, LastError, Unreached int
	// Forgotten are conversations that were let go from memory, for the next ones to have room.
	Forgotten int
	// Rewrites changed the beginning of the conversation of the request before.
	Rewrites int
	// Whole are the tokens of the clients' requests with a conversation, and Sent those of what was made of them.
	Whole, Sent int
	// Saved is the difference in US dollars, net of the prompt cache; 0 where no price list is known.
	Saved float64
	// Narrow is the model that Claude Code last took for one of 200,000 tokens although it has a million; "" for none.
	Narrow string
	// Usage is what the providers reported, for all requests.
	Usage provider.Usage
}

// totals counts what happened: for people, and as measurements.
type totals struct {
	measured *metrics.Proxy
	mu       sync.Mutex
	Totals
}

// passed counts a request that is forwarded as it came.
func (t *totals) passed(why body.Reason) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Passed == nil {
		t.Passed = map[body.Reason]int{}
	}
	t.Passed[why]++
}

// failed counts a turn that could not be prepared.
func (t *totals) failed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Failed++
}

// forgotten counts n more, and returns how many there are.
func (t *totals) forgotten(n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Forgotten += n
	return t.Forgotten
}

// learned counts a limit that a refusal taught.
func (t *totals) learned(x *exchange) {
	t.measured.Learned(string(x.route.api))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Learned++
}

// resent counts a request that was sent once more.
func (t *totals) resent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Resent++
}

// narrow notes a model whose window Claude Code does not know to be a million tokens: behind an address that is not
// Anthropic's it takes every window for 200,000, unless the model was named with the suffix [1m], which becomes a header.
func (t *totals) narrow(of limited, h http.Header) {
	if h.Get("X-Claude-Code-Session-Id") == "" || of.long || pricing.WindowOf(of.model).Input < longWindow {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Narrow = of.model
}

// request counts a request that is about to be forwarded. A size of zero is one that no turn was run for.
func (t *totals) request(x *exchange) {
	if x.route.task != turn {
		t.mu.Lock()
		t.Others++
		t.mu.Unlock()
		return
	}
	t.measured.Request(metrics.Request{API: string(x.route.api), Outcome: x.outcome, Reason: string(x.reason),
		Before: x.size.whole, After: x.size.sent, Rewrote: x.size.charge.Rewrote, Added: time.Since(x.arrived)})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Requests++
	if x.size.whole == 0 {
		return
	}
	if x.outcome != "failed" {
		t.Edited++
	}
	t.Whole, t.Sent, t.Saved = t.Whole+x.size.whole, t.Sent+x.size.sent, t.Saved+x.size.charge.Saved
	if x.size.charge.Rewrote {
		t.Rewrites++
	}
}

// answered adds what a provider reported. more is what was saved beyond what the request was counted with.
func (t *totals) answered(x *exchange, u provider.Usage, more float64) {
	t.measured.Usage(string(x.route.api), u.Input, u.CacheRead, u.CacheWrite, u.Output)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Saved += more
	t.Usage = t.Usage.Plus(u)
}

// began notes how long an answer took to begin. status is 0 if the provider cannot be reached.
func (t *totals) began(x *exchange, status int) {
	if x.route.task != turn {
		return
	}
	outcome := "ok"
	t.mu.Lock()
	switch {
	case status == 0:
		outcome = "unreachable"
		t.Unreached++
	case status >= 400:
		outcome = fmt.Sprintf("%dxx", status/100)
		t.Errors, t.LastError = t.Errors+1, status
	}
	t.mu.Unlock()
	t.measured.Answer(string(x.route.api), outcome, time.Since(x.begun))
}

// now returns the totals. The map is a copy, which the caller may keep.
func (t *totals) now() Totals {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.Totals
	out.Passed = maps.Clone(t.Passed)
	return out
}

// logged remembers when each message was logged last: an agent with a broken plugin would otherwise fill its log. The
// zero value has logged nothing. Messages are constants, so that the map stays small.
type logged struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// logOnce logs a warning, the same message at most once a minute.
func (s *Server) logOnce(message string, args ...any) {
	s.logged.mu.Lock()
	now := time.Now()
	again := now.Sub(s.logged.last[message]) < time.Minute
	if !again {
		if s.logged.last == nil {
			s.logged.last = map[string]time.Time{}
		}
		s.logged.last[message] = now
	}
	s.logged.mu.Unlock()
	if !again {
		s.options.Logger.Warn(message, args...)
	}
}
