// Package stdio serves a host to one agent in any language: JSON-RPC 2.0, one message a line, over a pair of streams.
//
// It is what 'thresh run' runs. Start at [Serve]; methods.go has one function a method.
//
// Requests of one session take effect in the order in which they arrive, whether or not the agent waits for replies. Only
// window.prepare goes on in the background: history.add does not wait for it, everything else does. What is added while it
// works may stand in the history that it returns; its revision says.
package stdio
