package metrics

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// Proxy measures requests to models through the proxy. It is safe for concurrent use. The nil Proxy records nothing.
type Proxy struct {
	attributes                                       attributes
	requests, before, after, rewrites, usage, limits metric.Int64Counter
	active                                           metric.Int64UpDownCounter
	added, upstream                                  metric.Float64Histogram
}

// NewProxy makes the instruments; for a nil provider it returns a nil Proxy. version is the host's.
func NewProxy(provider metric.MeterProvider, version string) (*Proxy, error) {
	if provider == nil {
		return nil, nil
	}
	m := maker{meter: provider.Meter(scope, metric.WithInstrumentationVersion(version))}
	p := &Proxy{
		requests: m.counter("thresh.proxy.requests", "{request}",
			"Requests to models, by what was done with them, and refused ones."),
		before: m.counter("thresh.proxy.tokens.before", "{token}", "Tokens of the requests of clients."),
		after:  m.counter("thresh.proxy.tokens.after", "{token}", "Tokens of the requests that were made of them."),
		rewrites: m.counter("thresh.proxy.rewrites", "{request}",
			"Requests whose beginning is not that of the one before."),
		usage:  m.counter("thresh.proxy.usage", "{token}", "Tokens as providers reported them."),
		limits: m.counter("thresh.proxy.limits", "{limit}", "Context limits that refusals of providers taught."),
		added: m.seconds("thresh.proxy.added.duration",
			"Time from the arrival of a request to its sending.", hostBounds),
		upstream: m.seconds("thresh.proxy.upstream.duration",
			"Time from the sending of a request to the beginning of its answer.", callBounds),
	}
	var err error
	p.active, err = m.meter.Int64UpDownCounter("thresh.proxy.active", metric.WithUnit("{request}"),
		metric.WithDescription("Requests whose answers have not ended."))
	m.failed("thresh.proxy.active", err)
	if len(m.errs) > 0 {
		return nil, errors.Join(m.errs...)
	}
	return p, nil
}

// Begin records that a request arrived; end is for the end of its answer.
func (p *Proxy) Begin(api string) (end func()) {
	if p == nil {
		return func() {}
	}
	of := p.attributes.of(labels{api: api}).add
	p.active.Add(context.Background(), 1, of...)
	return func() { p.active.Add(context.Background(), -1, of...) }
}

type Request struct {
	// API, Outcome and Reason are words from fixed lists.
	API, Outcome, Reason string
	// Before and After are tokens, 0 if it was not looked at. Rewrote: it does not begin as the one before.
	Before, After int
	Rewrote       bool
	Added         time.Duration
}

// Request records a request that is sent, or refused because of a failure.
func (p *Proxy) Request(r Request) {
	if p == nil {
		return
	}
	ctx, api := context.Background(), p.attributes.of(labels{api: r.API})
	p.requests.Add(ctx, 1, p.attributes.of(labels{api: r.API, outcome: r.Outcome, reason: r.Reason}).add...)
	p.before.Add(ctx, int64(r.Before), api.add...)
	p.after.Add(ctx, int64(r.After), api.add...)
	if r.Rewrote {
		p.rewrites.Add(ctx, 1, api.add...)
	}
	p.added.Record(ctx, r.Added.Seconds(), api.record...)
}

// Refused records a request that was not admitted, which is in no other instrument. api is "" if it is for no model.
func (p *Proxy) Refused(api, reason string) {
	if p != nil {
		p.requests.Add(context.Background(), 1,
			p.attributes.of(labels{api: api, outcome: "refused", reason: reason}).add...)
	}
}

// Answer records that an answer began. outcome is ok, the class of its status, or unreachable.
func (p *Proxy) Answer(api, outcome string, after time.Duration) {
	if p != nil {
		p.upstream.Record(context.Background(), after.Seconds(),
			p.attributes.of(labels{api: api, outcome: outcome}).record...)
	}
}

// Usage records what a provider reported. input excludes cache reads and writes.
func (p *Proxy) Usage(api string, input, cacheRead, cacheWrite, output int) {
	if p == nil {
		return
	}
	for kind, n := range map[string]int{
		"input": input, "cache_read": cacheRead, "cache_write": cacheWrite, "output": output,
	} {
		if n > 0 {
			p.usage.Add(context.Background(), int64(n), p.attributes.of(labels{api: api, tokens: kind}).add...)
		}
	}
}

// Learned records that a refusal taught a model's context limit. The model's name is the client's, so no attribute.
func (p *Proxy) Learned(api string) {
	if p != nil {
		p.limits.Add(context.Background(), 1, p.attributes.of(labels{api: api}).add...)
	}
}
