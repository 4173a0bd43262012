// Package stdio serves a host to one agent in any language: JSON-RPC 2.0, one message per line, over a pair of
// streams.
//
// 'thresh run' runs it. Start at [Serve]. It is a thin door: it has package service read the parameters, calls the row of
// package api, and encodes the result. It knows no method by name.
//
//	calls.go    starts a call of a session in its place in the order, opens and ends it, and cancels calls
//	serve.go    reads requests, starts calls, writes replies
//	queue.go    keeps the requests of one session in order
//	rpc.go      errors in the form of JSON-RPC
//
// Requests of one session take effect in the order in which they arrive, whether or not the agent waits for replies.
// history.add never waits for other methods, and what was sent before an addition does not see it: a prepare returns a
// history of exactly what was added before the prepare was sent. queue.go says how.
package stdio
