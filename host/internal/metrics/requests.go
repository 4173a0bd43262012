package metrics

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// Requests measures what a served host answers or refuses. It is safe for concurrent use.
type Requests struct {
	attributes attributes
	meter      metric.Meter
	time       metric.Float64Histogram
}

func NewRequests(provider metric.MeterProvider, version string) (*Requests, error) {
	m := maker{meter: provider.Meter(scope, metric.WithInstrumentationVersion(version))}
	r := &Requests{meter: m.meter, time: m.seconds("thresh.service.duration",
		"Time of requests, from the header to the end of the answer.", callBounds)}
	return r, errors.Join(m.errs...)
}

// Ready has the host asked at each collection whether requests would succeed. The nil Requests asks nothing.
func (r *Requests) Ready(ready func() bool) {
	if r == nil {
		return
	}
	observe := func(_ context.Context, o metric.Int64Observer) error {
		n := int64(0)
		if ready() {
			n = 1
		}
		o.Observe(n)
		return nil
	}
	// Only an invalid name gives an error.
	_, _ = r.meter.Int64ObservableGauge("thresh.ready", metric.WithInt64Callback(observe),
		metric.WithDescription("1 if requests would succeed, 0 if the session store or the configuration cannot be used."))
}

// Done records a request. method is "" if it reached none. Both are from fixed lists. The nil Requests records nothing.
func (r *Requests) Done(method, outcome string, took time.Duration) {
	if r == nil {
		return
	}
	r.time.Record(context.Background(), took.Seconds(),
		r.attributes.of(labels{method: method, outcome: outcome}).record...)
}
