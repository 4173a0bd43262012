package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/internal/failure"
)

// Options are what [Open] needs in addition to a profile. The zero value suits a program; tests set the fields.
type Options struct {
	// LookupEnv looks up the key's variable; nil is [os.LookupEnv].
	LookupEnv func(string) (string, bool)
	// Transport sends the requests; nil is a copy of [http.DefaultTransport], which uses the environment's proxies.
	Transport http.RoundTripper
}

// Client runs completions on one profile's model. It is safe for concurrent use.
type Client struct {
	profile   Profile
	backend   *backend
	redact    *strings.Replacer
	transport *http.Transport // our own; nil if the caller brought one

	sleep func(context.Context, time.Duration) error
	now   func() time.Time
}

// Open reads the profile's key and returns a client; nothing is sent. The error is an [*Error] and [ErrProfile].
func Open(p Profile, o Options) (*Client, error) {
	if problem := p.check(); problem != "" {
		return nil, p.failf(ErrProfile, "%s", problem)
	}
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	key, err := readKey(p, o.LookupEnv)
	if err != nil {
		return nil, p.failf(fmt.Errorf("%w: %w", ErrProfile, err), "%v", err)
	}
	c := &Client{profile: p, redact: redactor(key), sleep: sleep, now: time.Now}
	transport := o.Transport
	if transport == nil {
		transport = http.DefaultTransport
		if standard, ok := transport.(*http.Transport); ok {
			c.transport = standard.Clone()
			transport = c.transport
		}
	}
	httpClient := &http.Client{Transport: transport,
		// A redirect would send the key and the conversation to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if c.backend, err = newBackend(p, key, httpClient); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Client) Profile() Profile { return c.profile }

// MaxOutput is the most that one call may generate, in tokens.
func (c *Client) MaxOutput() int { return c.profile.maxOutput(0) }

func (c *Client) Close() {
	if c.transport != nil {
		c.transport.CloseIdleConnections()
	}
}

// Generate runs one completion. It calls onText, unless nil, once the answer is complete, unless it is empty. What the
// call cost is in the result also after an error: an answer that broke off is paid for.
//
// ctx or the profile's timeout ends the call, also on the wire. The error is an [*Error].
func (c *Client) Generate(ctx context.Context, req Request, onText func(string)) (Result, error) {
	start := c.now()
	p := c.profile
	if problem := req.check(); problem != "" {
		return Result{}, p.failf(ErrRequest, "%s", problem)
	}
	counter, err := tokens.For(p.Model, "")
	if err != nil {
		return Result{}, p.failf(err, "%v", err)
	}
	b := bill{prices: p.Prices, book: req.Book, counter: counter,
		estimate: provider.Usage{Input: req.tokens(counter), Output: p.maxOutput(req.MaxOutput)}}
	if e := p.exceeded(b.estimate); e != nil {
		return Result{}, e
	}
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.Timeout, errTimeout)
		defer cancel()
	}
	a, attempts, err := c.persist(ctx, req, &b)
	used := b.used
	result := Result{
		InputTokens: used.Prompt(), OutputTokens: used.Output, CacheRead: used.CacheRead, CacheWrite: used.CacheWrite,
		CostUSD: cost(p.Prices, used), Attempts: attempts, Duration: c.now().Sub(start),
	}
	if err != nil {
		return result, err
	}
	result.Text, result.FinishReason, result.Model = a.text.String(), a.finish, a.model
	result.Calls, result.Thought = a.called(), a.thought.String()
	if onText != nil && result.Text != "" {
		onText(result.Text)
	}
	return result, nil
}

// persist runs attempts until one succeeds, a retry cannot help, or the time is up. It never starts a wait that would
// end after the deadline: the caller gets the real failure instead of a timeout. An adapted request is no retry.
func (c *Client) persist(ctx context.Context, req Request, b *bill) (a *answer, attempts int, err error) {
	adapted, before := false, ""
	for attempts = 1; ; attempts++ {
		a, failed, refused := b.pay(ctx, func() (*answer, *Error) { return c.attempt(ctx, req, b.estimate.Output) })
		if refused != nil {
			e := c.profile.failf(refused, "the request was not sent%s", before)
			e.Attempts, e.Retryable = attempts-1, failure.Of(refused).Retryable
			return nil, attempts - 1, e
		}
		if failed == nil {
			return a, attempts, nil
		}
		failed.Attempts, before = attempts, "; before that: "+failed.Message
		if !adapted && c.backend.adapt(failed) {
			adapted = true
			continue
		}
		retries := attempts - 1
		if adapted {
			retries--
		}
		if !failed.Retryable || retries >= c.profile.Retries || ctx.Err() != nil {
			return nil, attempts, failed
		}
		wait := failed.RetryAfter
		if wait == 0 {
			wait = backoff(attempts)
		}
		if wait > MaxWait {
			failed.Message += fmt.Sprintf(
				"; it asked to wait %s, more than the %s that a call waits", wait.Round(time.Second), MaxWait,
			)
			return nil, attempts, failed
		}
		if deadline, ok := ctx.Deadline(); ok && deadline.Sub(c.now()) < wait {
			failed.Message += fmt.Sprintf(
				"; the next attempt would be in %s, when the call's time is over", wait.Round(time.Millisecond),
			)
			return nil, attempts, failed
		}
		if err := c.sleep(ctx, wait); err != nil {
			stopped := c.stopped(ctx)
			stopped.Attempts = attempts
			stopped.Message += before
			return nil, attempts, stopped
		}
	}
}

// attempt sends the request once. Of the cases, the caller's cancellation is first, because it makes everything else
// fail too; a complete answer wins over a later error. What came of an answer is returned in any case.
func (c *Client) attempt(ctx context.Context, req Request, maxOutput int) (*answer, *Error) {
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x := newExchange(c.profile.IdleTimeout, maxEventBytes(maxOutput), cancel)
	defer x.end()
	a := newAnswer(maxOutput)
	err := c.backend.generate(own, req, maxOutput, x, a)
	a.free = x.free(err)
	switch {
	case ctx.Err() != nil && (err != nil || a.finish == ""):
		return a, c.stopped(ctx)
	case a.finish != "":
		// At most the usage, which follows, is missing.
		return a, nil
	case errors.Is(context.Cause(own), errSilent):
		return a, c.silent(x)
	default:
		return a, c.failure(err, x)
	}
}
