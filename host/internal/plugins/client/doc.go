// Package client speaks the strategy protocol with one plugin process: it asks what the plugin is, configures it,
// calls it, and serves what the plugin asks of the host.
//
// It is for package supervise, which decides when processes start and end. Start at [Launch], which brings a plugin
// from its file to ready and returns a [Plugin].
//
// Generated protobuf is used here only to register the host's service and to hold the plugin's stub; package
// internal/wire converts every message. What a strategy answers is decoded and bounded here; package history judges it
// before it applies anything.
package client
