package metrics

import (
	"context"

	"go.opentelemetry.io/otel/metric"
)

// gauges registers the callbacks that are read at each collection.
func (m *maker) gauges(r *Recorder, s Sources) metric.Registration {
	sessions, err := m.meter.Int64ObservableUpDownCounter(
		"thresh.sessions", metric.WithUnit("{session}"), metric.WithDescription("Sessions that are open."),
	)
	m.failed("thresh.sessions", err)
	states, err := m.meter.Int64ObservableGauge(
		"thresh.plugin.state", metric.WithUnit("{plugin}"),
		metric.WithDescription("1 for the state that a plugin is in."),
	)
	m.failed("thresh.plugin.state", err)
	if len(m.errs) > 0 {
		return nil
	}
	registration, err := m.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		if s.Sessions != nil {
			o.ObserveInt64(sessions, int64(s.Sessions()))
		}
		if s.Plugins != nil {
			for name, state := range s.Plugins() {
				o.ObserveInt64(states, 1, r.attributes.of(labels{strategy: name, state: string(state)}).observe)
			}
		}
		return nil
	}, sessions, states)
	m.failed("gauges", err)
	return registration
}
