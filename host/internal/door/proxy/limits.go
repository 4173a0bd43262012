package proxy

import (
	"context"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/provider"
)

// Limits that providers tell by refusing, and windows that they show by accepting. A model's limit is often not what
// the settings say: gateways and plans have lower ones.

// limits are what providers told, until the process ends. The zero value knows nothing.
type limits struct {
	mu    sync.Mutex
	known map[limited]*told
}

// limited is what a limit is known of. A refusal may quote the request, so that an owner could teach any limit, but
// only for itself.
type limited struct {
	owner, model string
	upstream     string
	long         bool // with the window of a million tokens
}

// told is what one upstream told about a model.
type told struct {
	// by are the limits that refusals told, in tokens, by the conversation that was refused. A single refusal is no
	// reason to take anything from others: the limit holds for all from when a second conversation was told the same.
	by  map[string]int
	all int
	// accepted is the largest prompt that was not refused, in the provider's tokens.
	accepted int
	// sealed: thinking behind a change was refused.
	sealed bool
}

// maxTold bounds the conversations whose limits are known.
const maxTold = 1000

// limited returns what a refusal of a request teaches a limit of. beta is the header by which clients of Anthropic's
// ask for the window of a million tokens.
func (x *exchange) limited(model, beta string) limited {
	return limited{x.grant.Name, model, x.upstream(), x.asksLong(beta)}
}

func (x *exchange) asksLong(beta string) bool {
	return x.route.api == provider.Messages && strings.Contains(beta, "context-1m")
}

// of returns what is known; the caller holds l.mu.
func (l *limits) of(of limited) *told {
	t := l.known[of]
	if t == nil {
		if l.known == nil {
			l.known = map[limited]*told{}
		}
		t = &told{by: map[string]int{}}
		l.known[of] = t
	}
	return t
}

// learn stores a limit that a conversation was told. The latest refusal counts, also if it names a higher limit. named:
// the refusal says the number, so that it can confirm what another one said.
func (l *limits) learn(of limited, conversation string, limit int, named bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.of(of)
	for other, n := range t.by {
		if named && other != conversation && n == limit {
			t.all = limit
		}
	}
	if len(t.by) >= maxTold {
		clear(t.by)
	}
	t.by[conversation] = limit
}

// get returns the limit for a conversation; 0 if none was learned.
func (l *limits) get(of limited, conversation string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.known[of]
	if t == nil {
		return 0
	}
	if limit := t.by[conversation]; limit > 0 {
		return limit
	}
	return t.all
}

// seal notes that a model refused thinking behind a change.
func (l *limits) seal(of limited) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(of).sealed = true
}

// sealed reports whether a model has refused thinking behind a change.
func (l *limits) sealed(of limited) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.known[of]
	return t != nil && t.sealed
}

// accept notes that a prompt was not refused: a lower limit that was told is none.
func (l *limits) accept(of limited, conversation string, prompt int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.of(of)
	t.accepted = max(t.accepted, prompt)
	if t.by[conversation] < prompt {
		delete(t.by, conversation)
	}
	if t.all < prompt {
		t.all = 0
	}
}

// window returns the size of a model's context window; 0 if nothing tells it. What a refusal told is known of
// conversations: see [Server.limit].
func (l *limits) window(of limited) int {
	var seen pricing.Seen
	if of.long && pricing.WindowOf(of.model).Input < longWindow {
		seen.Told = longWindow
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.known[of]; t != nil {
		seen.Answered = t.accepted
	}
	window, by := seen.Window(of.model)
	if by == "" && window == pricing.CommonWindow {
		return 0
	}
	return window
}

// refusedAs returns the limit that a provider's refusal tells, in its tokens, and how many the refused request had.
// Where it names no limit, that is below what was sent, in tokens of the host's count: a tenth is taken off. ok is
// false if the refusal is about something else, such as the size of the body in bytes.
func refusedAs(f *provider.Form, status int, answer []byte, sent int) (r provider.Refusal, named, ok bool) {
	r, ok = f.TooLong(status, answer)
	if named = r.Limit > 0; ok && !named {
		r.Limit = sent - sent/10
	}
	return r, named, ok && r.Limit >= provider.MinLimit
}

// limit applies a learned limit to a branch, whose lock is held. The next turn then makes the request fit.
func (s *Server) limit(ctx context.Context, b *branch, of limited) {
	learned := s.limits.get(of, b.conversation)
	if learned == 0 { // before the settings are copied, as most requests end here
		return
	}
	m := b.session.Config().Settings().Model
	if learned >= m.ContextLimit {
		return
	}
	// A budget that the lower limit cannot hold could make the setting of the limit fail.
	if m.CompletionBudget > learned/2 {
		_ = b.session.Set(ctx, "model.completionBudget", 0)
	}
	if err := b.session.Set(ctx, "model.contextLimit", learned); err != nil {
		s.logOnce("a learned limit could not be set", "error", err)
		return
	}
	b.limited = of
	b.relimited.Store(true)
}
