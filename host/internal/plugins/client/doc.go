// Package client speaks the strategy protocol with one plugin process: it asks what the plugin is, configures it,
// calls it, and serves what the plugin asks of the host.
//
// It is for package supervise, which decides when processes start and end. Start at [Launch], which brings a plugin
// from its file to ready and returns a [Plugin]; [Plugin.Optimize] and [Plugin.Compress] call it, and [Plugin.Close]
// ends it.
//
//   - plugin.go is the Plugin; launch.go brings it to ready (GetInfo, then Configure).
//   - info.go checks what a plugin reports about itself; settings.go checks the strategy's own settings against it.
//   - call.go makes a call; outcome.go says why one failed; depth.go bounds the nesting of JSON in an answer.
//   - remote.go holds the two gRPC services; services.go is what the plugin can ask of the host during a Compress.
//   - raw.go makes single calls without judging anything, for the conformance suite.
//
// Generated protobuf is used here only to register the host's service and to hold the stub of the plugin's; package
// internal/wire converts every message. What a strategy answers is decoded and bounded here, and otherwise not
// judged: package history does that before it applies anything.
package client
