package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/provider/apis"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// Thinking that a model takes back only behind exactly what it was made behind. The session leaves out what a rewrite
// has unsealed; here is what only the proxy knows: what was really sent, and what the provider refused all the same.

// model notes what the request's model teaches and does. beta is the header of [exchange.limited].
func (x *exchange) model(r *body.Request, beta string) {
	x.of = x.limited(r.Model, beta)
	switch sealed := r.DropsThinking || pricing.WindowOf(r.Model).Seals; {
	case !sealed && !x.server.limits.sealed(x.of):
	case r.ManualThinking && r.Led():
		x.thinking = window.ThinkingHeld
	default:
		x.thinking = window.ThinkingSealed
	}
}

// unseal takes thinking out of entries for good, and makes what is left the view of the turn.
func (b *branch) unseal(ctx context.Context, x *exchange, t *prepared, of map[string]bool) error {
	now, err := b.session.DropThinking(ctx, len(b.entries), window.Sending{Pending: t.pending, At: t.at,
		Marks: b.marks, Thinking: x.thinking}, of)
	if now.Contents() != nil {
		t.View = now.View
		b.see(now)
	}
	return err
}

// unsealRefused takes out what the provider has refused since the last turn.
func (b *branch) unsealRefused(ctx context.Context, x *exchange) error {
	refused := int(b.refused.Swap(0))
	if refused == 0 {
		return nil
	}
	of := map[string]bool{}
	for _, e := range b.entries[:refused] {
		of[e.ID] = true
	}
	return b.unseal(ctx, x, &prepared{}, of)
}

// plan works out what is sent of a turn. If that changes what was sent before, although the view does not, the thinking
// behind it goes.
func (b *branch) plan(ctx context.Context, s *Server, x *exchange, r *body.Request, t *prepared) (*body.Plan, error) {
	plan, err := b.planned(ctx, s, r)
	if err != nil || x.thinking == window.ThinkingOfModel {
		return plan, err
	}
	var sent body.Trace
	if last := b.sent.Load(); last != nil {
		sent = last.trace
	}
	if entry, is := plan.Trace().Changed(sent); is {
		if of := plan.Thoughtful(r, entry); of != nil {
			if err := b.unseal(ctx, x, t, of); err != nil {
				return nil, err
			}
			if plan, err = b.planned(ctx, s, r); err != nil {
				return nil, err
			}
		}
	}
	return plan, nil
}

// asCame is the client's own body, but for thinking that stands behind something which was sent otherwise: no model that
// seals it takes it there.
func (b *branch) asCame(x *exchange, r *body.Request) []byte {
	if x.thinking == window.ThinkingOfModel || r.DropsThinking {
		return r.Raw
	}
	from := 0
	if plan, err := r.NewPlan(b.entries[:b.viewed], b.view); err == nil {
		entry, is := plan.Trace().Changed(body.Untouched(len(b.entries)))
		if !is {
			return r.Raw
		}
		from = r.ItemOf(b.entries, entry)
	}
	return r.WithoutThinking(from)
}

// passed is the body of a request that is none for its session.
func (s *Server) passed(r *http.Request, x *exchange, req *body.Request) []byte {
	if x.thinking == window.ThinkingOfModel {
		return req.Raw
	}
	b := s.known(r, x, req)
	if b == nil {
		return req.Raw
	}
	defer b.mu.Unlock()
	if b.view == nil {
		return req.Raw
	}
	return b.asCame(x, req)
}

// resending sends a request once more, without thinking, if the provider refused it for that.
type resending struct {
	http.RoundTripper
	server *Server
}

// maxRefusal bounds what is read of a refusal, in bytes.
const maxRefusal = 64 << 10

// RoundTrip implements [http.RoundTripper].
func (t resending) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.RoundTripper.RoundTrip(r)
	x := r.Context().Value(exchangeKey{}).(*exchange)
	sent := x.again
	x.again = nil
	form := apis.Of(x.route.api)
	if err != nil || sent == nil || res.StatusCode != http.StatusBadRequest || form.Unsealed == nil {
		return res, err
	}
	why, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	without, ok := []byte(nil), form.Unsealed(res.StatusCode, why)
	if ok {
		without, ok = body.WithoutThinking(x.route.api, sent)
	}
	if !ok {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(why), res.Body), res.Body}
		return res, nil
	}
	_ = res.Body.Close()
	t.server.refusedThinking(x)
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = &held{reader: bytes.NewReader(without)}, int64(len(without))
	r.Header.Del("Content-Encoding")
	return t.RoundTripper.RoundTrip(r)
}

// refusedThinking remembers that a model refused thinking, and what of a branch is not sent again.
func (s *Server) refusedThinking(x *exchange) {
	s.limits.seal(x.of)
	if x.branch != nil {
		x.branch.refused.Store(int64(x.entries))
	}
	x.counted = 0 // what was counted is not what the answer is about
	if x.detail != "" {
		x.detail += "; "
	}
	x.detail += "sent-again=without-thinking"
	s.totals.resent()
	s.options.Logger.Warn("the provider refused thinking behind a change: the request was sent again without any",
		"session", x.session, "model", x.of.model)
}
