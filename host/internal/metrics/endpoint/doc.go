// Package endpoint serves measurements to Prometheus over HTTP, and exports them to a collector over OTLP.
//
// It is for programs that serve a host and have no meter provider of their own, such as 'thresh run': call [Listen],
// open the host with [Endpoint.Meter] as host.Options.Meter, and call [Endpoint.Close] after closing the host. It is
// separate from package metrics so that embedders with their own provider do not link Prometheus.
//
// Names are translated as Prometheus writes them: thresh.plugin.call.duration becomes
// thresh_plugin_call_duration_seconds, and a counter such as thresh.turns becomes thresh_turns_total.
package endpoint
