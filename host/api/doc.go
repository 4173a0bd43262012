// Package api is what a host is asked, what it answers, and why it refuses: each method with its values and its errors,
// once. It is for agents written in Go, which call a host in their own process (package host) or one that is served
// (package host/client) by the same interfaces with the same values; and for the doors of a host, which call methods by
// their names.
//
//	session.go   [Session]: one conversation, and how to change it
//	history.go   what is added to a history, read of it and found in it
//	prepare.go   the history as it is sent
//	host.go      [Host]: opens, lists and watches sessions, counts, and knows the plugins
//	messages.go  messages in a provider's form; [Alone] makes them small without a session
//	errors.go    [Error]: why a call failed
//	methods.go   [Methods]: the names by which doors call all of this
//
// The JSON of the values is the contract with agents in other languages, which docs/api.md and openapi.json describe: both
// are made from [Methods]. It is added to, and never changed.
//
// Counts are in tokens, as the host counts them, and lists in answers are never nil. Do not implement the interfaces:
// methods are added to them.
package api
