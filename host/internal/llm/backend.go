package llm

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/chat"
)

// backend asks one model in its API's form. It is safe for concurrent use.
type backend struct {
	form     *provider.Form
	model    string
	endpoint endpoint
	// newLimit is set if the server wants max_completion_tokens: OpenAI's reasoning models refuse max_tokens, and many
	// compatible servers know nothing else. Any of the concurrent calls may learn it.
	newLimit atomic.Bool
}

// newBackend sends no header for an empty key: local servers need none. It starts with the limit's new name for OpenAI's
// own server only. The error is about baseURL.
func newBackend(p Profile, key string, client *http.Client) (*backend, error) {
	b := &backend{form: &chat.Form, model: p.Model}
	header := http.Header{}
	if p.Kind == config.KindAnthropic {
		b.form = &anthropic.Form
		header.Set("Anthropic-Version", anthropic.Version)
	}
	switch {
	case key == "":
	case p.Kind == config.KindAnthropic:
		header.Set("X-Api-Key", key)
	default:
		header.Set("Authorization", "Bearer "+key)
	}
	b.newLimit.Store(p.official())
	var err error
	b.endpoint, err = newEndpoint(p, b.form.Server, b.form.Path, header, client)
	return b, err
}

// generate runs one attempt. It is complete once the answer has a finish reason, even if an error follows. It streams the
// answer, although only the whole text is used: without events the idle timeout could not tell a slow model from a dead
// server.
func (b *backend) generate(ctx context.Context, req Request, maxOutput int, x *exchange, a *answer) error {
	q := provider.Question{Model: b.model, System: req.System, Turns: turns(req.Messages), Tools: req.Tools,
		NoCalls: req.NoCalls, MaxOutput: maxOutput, OldLimit: !b.newLimit.Load()}
	return stream(ctx, b.endpoint, b.form.Ask(q), x, func(event json.RawMessage) error {
		h, err := b.form.Hear(event)
		if err != nil {
			return err
		}
		if len(req.Tools) > 0 {
			a.call(b.form.Calls(event), h.Thought)
		}
		return a.hear(h)
	})
}

// adapt changes the form of later requests if the error suggests it, and reports whether the same request may succeed
// now. It is called at most once per call. Where the limit has two names, the server's message says which: there is no
// common error code.
func (b *backend) adapt(e *Error) bool {
	wrong, right := "max_tokens", "max_completion_tokens"
	if b.newLimit.Load() {
		wrong, right = right, wrong
	}
	if b.form != &chat.Form || e.Status != http.StatusBadRequest || !strings.Contains(e.Message, "'"+wrong+"'") ||
		!strings.Contains(e.Message, right) {
		return false
	}
	b.newLimit.Store(right == "max_completion_tokens")
	return true
}
