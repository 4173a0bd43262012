package metrics

import (
	"context"

	"go.opentelemetry.io/otel/metric"
)

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
	missing, err := m.meter.Int64ObservableGauge(
		"thresh.plugin.isolation.missing", metric.WithUnit("{measure}"),
		metric.WithDescription("Measures of isolation that a plugin does without."),
	)
	m.failed("thresh.plugin.isolation.missing", err)
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
		if s.Lacking != nil {
			for name, n := range s.Lacking() {
				o.ObserveInt64(missing, int64(n), r.attributes.of(labels{strategy: name}).observe)
			}
		}
		return nil
	}, sessions, states, missing)
	m.failed("gauges", err)
	return registration
}
