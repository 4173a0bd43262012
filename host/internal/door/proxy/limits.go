package proxy

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/internal/lazyregexp"
)

// Limits that providers tell by refusing. A model's limit is often not what the settings say: gateways and plans have
// lower ones.

// limits are the context limits that providers told. They hold for all conversations of an owner with a model, until
// the process ends. The zero value knows none.
type limits struct {
	mu    sync.Mutex
	known map[limited]int
}

// limited is what a limit is known of. A refusal may quote the request, so that an owner could teach any limit, but
// only for itself.
type limited struct {
	owner, model string
	long         bool // with the window of a million tokens
}

// limited returns what a refusal of a request teaches a limit of. beta is the header by which clients of Anthropic's
// ask for the window of a million tokens.
func (x *exchange) limited(model, beta string) limited {
	return limited{x.grant.Name, model, x.asksLong(beta)}
}

func (x *exchange) asksLong(beta string) bool {
	return x.route.api == provider.Messages && strings.Contains(beta, "context-1m")
}

// leastLimit is the lowest limit that is believed, in tokens: no model has less.
const leastLimit = 1000

// tooLong are the words with which providers refuse a request that is too long; the group is the limit in tokens.
// They were collected from the providers' and gateways' answers; one that is missing here costs a failed turn and
// teaches nothing.
var tooLong = []func() *regexp.Regexp{
	lazyregexp.New(`prompt is too long: \d+ tokens (?:>|\\u003e) (\d+) maximum`),
	lazyregexp.New(`exceed context limit: \d+ \+ \d+ (?:>|\\u003e) (\d+)`),
	lazyregexp.New(`maximum context length is (\d+) tokens`),
	lazyregexp.New(`exceeds the maximum number of tokens allowed \((\d+)\)`),
	lazyregexp.New(`context (?:window|length|size)[^.]{0,60}?(\d{4,})`),
}

// refused are how large a request was that was refused, in the provider's tokens.
var refused = lazyregexp.New(`prompt is too long: (\d+) tokens|exceed context limit: (\d+) \+|` +
	`input token count \((\d+)\) exceeds|messages resulted in (\d+) tokens|\((\d+) in the messages(?:, (\d+) in the functions)?`)

// refusedTokens returns how large a refused prompt was; 0 if the refusal does not say.
func refusedTokens(answer []byte) int {
	n := 0
	for _, group := range refused().FindSubmatch(answer) { // the first is the whole
		part, _ := strconv.Atoi(string(group)) // 0 for what was not matched
		n += part
	}
	return n
}

// noNumber are words for the same that say no limit.
var noNumber = lazyregexp.New(`context_length_exceeded|exceeds the context window|input is too long|` +
	`Request exceeds the maximum size|request_too_large`)

// refusedLimit returns the limit that a provider's refusal names. Where it names none, the limit is below what was
// sent: a tenth is taken off. ok is false if the refusal is about something else. sent is in tokens of the host's
// count.
func refusedLimit(answer []byte, sent int) (limit int, ok bool) {
	for _, re := range tooLong {
		if m := re().FindSubmatch(answer); m != nil {
			if n, err := strconv.Atoi(string(m[1])); err == nil && n >= leastLimit {
				return n, true
			}
		}
	}
	if limit := sent - sent/10; limit >= leastLimit && noNumber().Match(answer) {
		return limit, true
	}
	return 0, false
}

// learn stores a limit. The latest refusal counts, also if it names a higher limit.
func (l *limits) learn(of limited, limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[limited]int{}
	}
	l.known[of] = limit
}

// get returns a limit; 0 if none was learned.
func (l *limits) get(of limited) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[of]
}

// limit applies a learned limit to a branch, whose lock is held. The next turn then makes the request fit.
func (s *Server) limit(b *branch, of limited) {
	learned := s.limits.get(of)
	if learned == 0 { // before the settings are copied, as most requests end here
		return
	}
	m := b.session.Config().Settings().Model
	if learned >= m.ContextLimit {
		return
	}
	// A budget that the lower limit cannot hold could make the setting of the limit fail.
	if m.CompletionBudget > learned/2 {
		_ = b.session.Set("model.completionBudget", 0)
	}
	if err := b.session.Set("model.contextLimit", learned); err != nil {
		s.logOnce("a learned limit could not be set", "error", err)
		return
	}
	b.limited = of
	b.relimited.Store(true)
}
