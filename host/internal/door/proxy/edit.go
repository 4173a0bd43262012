package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/internal/failure"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Which body is sent. The rule of this file: if anything is in doubt, send the client's own bytes, or what was sent
// for this conversation before. No error reaches the agent.

// turn makes the body of a request to the model. Lock order: a branch's mu, then the thread's; the branch is unlocked
// when the body is made, not when the answer has come. Two requests of one branch, such as a retry that overtakes,
// would otherwise add the same items twice.
func (s *Server) turn(r *http.Request, x *exchange, req *body.Request) ([]byte, error) {
	s.totals.narrow(x.of, r.Header)
	b, known, err := s.branch(r, x, req)
	if err != nil {
		return s.failed(x, req.Raw, nil, err)
	}
	defer b.mu.Unlock()
	x.entries = len(b.entries)
	b.heard.Store(nil) // the results of its calls have come
	// Before the turn, which must already fit a limit that an answer taught.
	s.limit(r.Context(), b, x.of)
	// A request that is repeated gets what it got before, also if the strategy would say something else by now.
	refused := b.unsealRefused(r.Context(), x)
	repeated := known == len(req.Items) && b.viewed == len(b.entries) && !b.relimited.Load()
	var t prepared
	if !repeated {
		b.relimited.Store(false)
		t, err = b.prepare(r.Context(), x, req)
	}
	// Also after an error: the host then returns the history as the last turn left it, which is what was sent before.
	plan, shown := b.plan(r.Context(), s, x, req, &t)
	var view *body.Request
	if shown == nil {
		view, shown = edited(req, plan)
	}
	if err = cmp.Or(err, refused); err == nil && shown != nil {
		err = fmt.Errorf("%w: %w", errPlan, shown)
	}
	if x.alone != nil {
		x.alone.before, x.alone.removed = b.whole+b.pending, b.removed
		b.removed = nil // what was told of one call
	}
	var size turnSize
	if !t.at.IsZero() { // a turn was run
		size = b.settle(x, t, req, view, plan, err)
	}
	var out []byte
	if view != nil && b.view != nil {
		out = view.Raw
	}
	if out != nil && b.viewed == len(b.entries) {
		x.counted = b.last.sent
	}
	if err != nil {
		x.size = turnSize{whole: b.whole + b.pending, sent: b.whole + b.pending, charge: size.charge, at: t.at}
		if out != nil && t.Contents() != nil {
			x.size = b.last
		}
		return s.failed(x, b.asCame(x, req), out, err)
	}
	x.size = b.last
	if repeated {
		// A repetition has its savings counted already.
		x.size.charge, x.size.at = pricing.Charge{}, time.Time{}
	}
	if s.options.DryRun {
		x.outcome = "dry-run"
		return req.Raw, nil
	}
	x.outcome = "edited"
	// An edit that keeps the length counts as none; the header only informs.
	if len(out) == len(req.Raw) {
		x.outcome = "unchanged"
	}
	return out, nil
}

// known returns the branch that a request goes on from, with its lock held; nil if there is none in this process. It is
// looked up and not made: a question must not begin a conversation.
func (s *Server) known(r *http.Request, x *exchange, req *body.Request) *branch {
	id := s.identify(x, r.Header, req)
	thread := s.threads.get(id.key)
	// A question for tokens has no place for the name of a conversation in its body.
	if thread == nil && x.route.task == count {
		thread = s.threads.having(id.scope, req.Chain())
	}
	if thread == nil {
		return nil
	}
	b, _ := thread.find(req.Chain())
	return b
}

// aside makes the body of a request without tools that is a question about a conversation with tools, which goes on
// without it; ok is false if it is none.
func (s *Server) aside(r *http.Request, x *exchange, req *body.Request) (out []byte, ok bool) {
	b := s.known(r, x, req)
	if b == nil {
		return nil, false
	}
	defer b.mu.Unlock()
	if !b.tools {
		return nil, false
	}
	x.detail = "aside"
	return s.asSent(r.Context(), b, x, req), true
}

// counted makes the body of a question how many tokens a request has.
func (s *Server) counted(r *http.Request, x *exchange, req *body.Request) []byte {
	b := s.known(r, x, req)
	if b == nil {
		return req.Raw
	}
	defer b.mu.Unlock()
	return s.asSent(r.Context(), b, x, req)
}

// tokens counts a request by the host's own settings.
func (s *Server) tokens(ctx context.Context, req *body.Request) (tokens int, err error) {
	entries := req.Entries(0)
	contents := []content.Content{{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: string(req.Rest())}}}}
	for _, e := range entries {
		contents = append(contents, e.Content)
	}
	counted, err := s.options.Host.Count(ctx, contents)
	if err != nil {
		return 0, err
	}
	for i := range contents {
		tokens += counted.Tokens(i)
	}
	return tokens, nil
}

// fits reports whether the model can take the whole of a request, as far as counts and earlier answers tell.
func (s *Server) fits(r *http.Request, x *exchange, req *body.Request) bool {
	tokens, err := s.tokens(r.Context(), req)
	if err != nil {
		return true
	}
	whole, model := float64(tokens), x.profile.config.Settings().Model
	beta := r.Header.Get("Anthropic-Beta")
	set := x.settings(req, beta)
	if n, ok := set["model.contextLimit"].(int); ok {
		model.ContextLimit = n
	}
	if n, ok := set["model.completionBudget"].(int); ok {
		model.CompletionBudget = n
	}
	conversation := ""
	if b := s.known(r, x, req); b != nil {
		whole, model, conversation = whole*max(b.ratio, 1), b.session.Config().Settings().Model, b.conversation
		b.mu.Unlock()
	}
	if learned := s.limits.get(x.limited(req.Model, beta), conversation); learned > 0 {
		model.ContextLimit = min(model.ContextLimit, learned)
	}
	return whole <= float64(model.ContextLimit-model.CompletionBudget)
}

// asSent makes the body of a request that is no turn of its branch, whose lock is held: with what is sent of the
// conversation so far. It changes nothing. What the branch does not have yet stays as the client sent it. An error costs
// the client only tokens.
func (s *Server) asSent(ctx context.Context, b *branch, x *exchange, req *body.Request) []byte {
	if s.options.DryRun {
		return req.Raw
	}
	plan, err := b.planned(ctx, s, req)
	if err != nil {
		return b.asCame(x, req)
	}
	out, err := edited(req, plan)
	if err != nil {
		return b.asCame(x, req)
	}
	x.outcome = "edited"
	return out.Raw
}

// failed is what is sent when a turn failed: the last view if there is one that fits, else the client's bytes. The error
// is nil unless the client is gone.
func (s *Server) failed(x *exchange, raw, view []byte, err error) ([]byte, error) {
	if errors.Is(err, context.Canceled) {
		return nil, err // the client is gone
	}
	if x.alone != nil {
		x.alone.err = err
	}
	s.totals.failed()
	x.outcome, x.detail, x.reason = "failed", "sent=client", failureKind(err)
	s.logOnce("a conversation could not be prepared", "session", x.session, "error", err)
	if view != nil && !s.options.DryRun {
		x.detail = "sent=last-view"
		return view, nil
	}
	return raw, nil
}

// failureKind returns what kind of error made a turn fail, for a label.
func failureKind(err error) body.Reason {
	switch {
	case errors.Is(err, errPanic):
		return "panic"
	case errors.Is(err, errPlan):
		return "view"
	}
	return body.Reason(failure.Of(err).Kind)
}

// byDefault reports whether a setting has its default. One that the user made anywhere, in a file, a variable or a
// flag, is never overridden.
func byDefault(c *config.Config, key string) bool {
	return c.Origin(key).Layer == config.LayerDefault
}

// longWindow is the window of a million tokens, of which Gemini's models have one.
const longWindow = 1_000_000

// settings are those of a session, new or with another model, where the user has set nothing: what the request says of
// its model. With the model's name its prices are known, and with them the cadence is "priced". beta is the
// header of [exchange.limited].
func (x *exchange) settings(r *body.Request, beta string) map[string]any {
	c, set := x.profile.config, map[string]any{}
	if x.profile.name != "" {
		set["profile"] = x.profile.name
	}
	if r.Model != "" && byDefault(c, "model.name") {
		set["model.name"] = r.Model
	}
	// It decides when the cache counts as lost, and what a rewrite costs.
	if r.CachesForAnHour() && byDefault(c, "model.priceList") {
		set["model.priceList"] = "auto-1h"
	}
	limit := c.Settings().Model.ContextLimit
	if byDefault(c, "model.contextLimit") {
		window := x.server.limits.window(x.limited(r.Model, beta))
		if window == 0 && x.route.api == provider.Gemini {
			window = longWindow
		}
		if window > 0 && window != limit {
			limit = window
			set["model.contextLimit"] = limit
		}
	}
	// Providers refuse a request whose prompt and answer together exceed the limit. A model gives no more than it can,
	// whatever is asked for.
	budget := r.Completion
	if most := pricing.WindowOf(r.Model).Output; most > 0 {
		budget = min(budget, most)
	}
	if budget > 0 && budget <= limit/2 && byDefault(c, "model.completionBudget") {
		set["model.completionBudget"] = budget
	}
	if x.alone != nil {
		maps.Copy(set, x.alone.set)
	}
	return set
}

// compactionHeader reports whether a client says that it asks for a summary of the history.
func compactionHeader(h http.Header) bool {
	m := h.Get("X-Codex-Turn-Metadata")
	return m != "" && rawjson.FieldText([]byte(m), "request_kind") == "compaction"
}
