package metrics

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// Requests measures the requests that a served host answers or refuses. It is safe for concurrent use.
type Requests struct {
	attributes attributes
	time       metric.Float64Histogram
}

// NewRequests makes the instrument at a provider. version is the host's.
func NewRequests(provider metric.MeterProvider, version string) (*Requests, error) {
	m := maker{meter: provider.Meter(scope, metric.WithInstrumentationVersion(version))}
	r := &Requests{time: m.seconds("thresh.service.duration",
		"Time of requests, from the header to the end of the answer.", callBounds)}
	return r, errors.Join(m.errs...)
}

// Done records a request. method is "" if it reached none. Both words must be from fixed lists. The nil Requests
// records nothing.
func (r *Requests) Done(method, outcome string, took time.Duration) {
	if r == nil {
		return
	}
	r.time.Record(context.Background(), took.Seconds(),
		r.attributes.of(labels{method: method, outcome: outcome}).record...)
}
