// Package endpoint serves measurements to Prometheus over HTTP.
//
// It is for programs that serve a host and have no meter provider of their own, as 'thresh run' does: [Listen], open the
// host with [Endpoint.Meter] as host.Options.Meter, and [Endpoint.Close] after it. It stands apart from package metrics so
// that who brings a provider does not get Prometheus with the host.
//
// Names are translated as Prometheus writes them: thresh.plugin.call.duration becomes
// thresh_plugin_call_duration_seconds, and a counter such as thresh.turns becomes thresh_turns_total.
package endpoint
