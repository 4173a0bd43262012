// Package serve makes a program of a strategy: its main calls [Strategy], and that is all.
//
// The package does the handshake, streams, protobuf, panics (which fail one call, not the process), cancellation,
// logging, and exiting when the host is gone. It compares the returned history with the one that came: the answer names
// kept entries and blocks instead of sending them, so they keep their ids and token counts.
//
// serve.go starts the server, byhand.go and attach.go are for people who start a plugin themselves; service*.go serve
// the calls, mirror*.go hold histories between them, host*.go call the host back. Messages are converted in
// internal/wire.
package serve
