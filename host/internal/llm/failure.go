package llm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/sse"
	"github.com/thresh-dev/thresh/internal/lazyregexp"
)

// stopped returns the error of a call ended by its caller or its timeout. Only the timeout is retryable.
func (c *Client) stopped(ctx context.Context) *Error {
	p := c.profile
	if errors.Is(context.Cause(ctx), errTimeout) {
		e := p.failf(context.DeadlineExceeded, "there was no complete answer within %s", p.Timeout)
		e.Retryable, e.Hint = true, p.setting("timeout")+" sets that time"
		return e
	}
	return p.failf(ctx.Err(), "canceled by the caller")
}

// silent returns the error of an attempt that ran into the idle timeout.
func (c *Client) silent(x *exchange) *Error {
	p := c.profile
	kind := ErrUnreachable
	if len(x.head) > 0 {
		kind = ErrIncomplete
	}
	e := p.failf(kind, "nothing arrived for %s", p.IdleTimeout)
	e.Retryable, e.Hint = true, p.setting("idleTimeout")+" sets that time"
	return e
}

// failure classifies the error of an attempt, most specific evidence first: a response, an error event, a limit, then
// the connection. A nil error means that the stream ended without a finish reason.
func (c *Client) failure(err error, x *exchange) *Error {
	p := c.profile
	var (
		refused *refusal
		event   *errorEvent
	)
	switch {
	case errors.As(err, &refused):
		return c.refused(refused)
	case errors.As(err, &event):
		return c.said(http.StatusOK, event.data)
	// An answer that does not end is not retried: the next one would not end either.
	case errors.Is(err, ErrTooLong), errors.Is(err, sse.ErrTooLong):
		return p.failf(ErrTooLong, "the server ignores the token limit of the request; the answer was abandoned")
	case x.err != nil && len(x.head) > 0:
		e := p.failf(fmt.Errorf("%w: %w", ErrIncomplete, x.err), "the connection broke")
		e.Retryable = true
		return e
	case err == nil && looksLikeStream(string(x.head)):
		e := p.failf(ErrIncomplete, "the stream ended without a finish reason")
		e.Retryable = true
		return e
	case err == nil, len(x.head) > 0:
		return c.garbage(string(x.head))
	}
	// Errors of the connection hold an address but no header, so no key.
	e := p.failf(fmt.Errorf("%w: %w", ErrUnreachable, withoutURL(err)), "no answer from %s", p.server())
	e.Retryable = !hopeless(err)
	e.Hint = p.hint(e)
	return e
}

// garbage returns the error for text that is not an answer of the API, such as a login page: usually baseURL is wrong.
func (c *Client) garbage(text string) *Error {
	e := c.profile.failf(ErrProtocol, "received %q", clip(c.redact.Replace(text)))
	e.Hint = c.profile.hint(e)
	return e
}

// looksLikeStream tells an answer that broke off from one that never was a stream.
func looksLikeStream(text string) bool {
	for line := range strings.Lines(text) {
		for _, field := range []string{"data:", "event:", ":"} {
			if strings.HasPrefix(line, field) {
				return true
			}
		}
	}
	return text == ""
}

// hopeless reports whether a connection will fail again: an unknown host, an invalid certificate, no TLS.
func hopeless(err error) bool {
	var (
		dns      *net.DNSError
		cert     *tls.CertificateVerificationError
		unknown  x509.UnknownAuthorityError
		noTLS    tls.RecordHeaderError
		badProxy *url.Error
	)
	// A name that does not exist is hopeless; a name server that does not answer is not.
	switch {
	case errors.As(err, &dns):
		return dns.IsNotFound
	case errors.As(err, &cert), errors.As(err, &unknown), errors.As(err, &noTLS),
		errors.Is(err, http.ErrSchemeMismatch):
		return true
	case errors.As(err, &badProxy):
		return strings.Contains(badProxy.Err.Error(), "unsupported protocol scheme")
	}
	return false
}

// withoutURL removes the URL from net/http's errors; the message names the server already.
func withoutURL(err error) error {
	if ue := (*url.Error)(nil); errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

// refused returns the error for a refusal. X-Should-Retry, from Anthropic and OpenAI, overrides our judgement.
func (c *Client) refused(r *refusal) *Error {
	if r.status == http.StatusOK && !json.Valid(r.body) {
		return c.garbage(string(r.body))
	}
	e := c.said(r.status, r.body)
	if r.status >= 300 && r.status < 400 {
		e.Message = "the server redirects to " + clip(c.redact.Replace(r.header.Get("Location"))) +
			", which is not followed"
	}
	e.RetryAfter = retryAfter(r.header, c.now())
	switch r.header.Get("X-Should-Retry") {
	case "true":
		e.Retryable = true
	case "false":
		e.Retryable = false
	}
	return e
}

// said classifies an error that the provider reported, as a response or within a stream (status 200; the error's name
// then gives the status). Providers differ in codes and texts: see words.go.
func (c *Client) said(status int, body []byte) *Error {
	p, w := c.profile, readWords(body)
	if status == http.StatusOK {
		status = w.status()
	}
	w.message = cmp.Or(w.message, string(body))
	e := p.failf(nil, "%s", clip(c.redact.Replace(w.message)))
	e.Status, e.Code = status, clip(c.redact.Replace(cmp.Or(w.code, w.kind)))
	e.Message = cmp.Or(e.Message, "the server gave no reason")
	lower := strings.ToLower(w.message)
	// Status, then code, then words: servers that imitate these APIs often have only one of them right.
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.Err = ErrUnauthorized
	case w.code == "context_length_exceeded", c.tooLong(status, body):
		e.Err = ErrContextExceeded
	case status == http.StatusRequestEntityTooLarge:
		e.Err = ErrTooLarge
	case w.code == "model_not_found", status == http.StatusNotFound &&
		(w.kind == "not_found_error" || strings.Contains(lower, "model")):
		e.Err = ErrModelNotFound
	case status == http.StatusTooManyRequests:
		e.Err = ErrRateLimited
		// A spent quota is a 429 too, and stays spent.
		e.Retryable = w.code != "insufficient_quota" && w.kind != "insufficient_quota" && w.kind != "billing_error"
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly:
		e.Retryable = true
	case status == http.StatusOK:
		e.Status, e.Err = 0, ErrProtocol
		if w.found {
			// Unknown, in the middle of an answer: the server may succeed next time.
			e.Err, e.Retryable = ErrIncomplete, true
		}
	case status >= 500:
		e.Retryable = status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported
	}
	e.Hint = p.hint(e)
	return e
}

// tooLong reports whether a refusal is about too many tokens. Servers that imitate the APIs say so in words of their own
// only, which decide no more than what the error is called.
func (c *Client) tooLong(status int, body []byte) bool {
	_, yes := c.backend.form.TooLong(status, body)
	return yes || status == http.StatusBadRequest && imitated().Match(bytes.ToLower(body))
}

// imitated matches the messages of llama.cpp, vLLM and the like in versions that have no code for it.
var imitated = lazyregexp.New(`(maximum|available|max) (context|model)[ -]?(length|len|size|window)`)
