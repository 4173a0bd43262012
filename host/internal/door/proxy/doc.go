// Package proxy stands between an agent and its model's provider: the agent's base URL is the proxy's, and its
// conversation goes through a host, which prunes, compresses and keeps it under the limit.
//
// 'thresh wrap' and 'thresh serve' run it. Start at [New]; a [Server] is an http.Handler.
//
//	server.go    one request from its arrival to the answer
//	route.go     which API and which upstream an address is about
//	guard.go     who may ask: Host, Origin, tokens
//	profile.go   the upstreams and settings that an address chooses
//	read.go      the request's body, within bounds of size, time and memory; decode.go reads its encoding
//	edit.go      the body that is sent instead of the client's, or why the client's is sent
//	identity.go  which conversation a request says that it belongs to
//	thread.go    the branches of a conversation, found by the chain of its items
//	branch.go    one branch: a session of the host, and what was sent of it
//	shown.go     one turn of a branch: what is sent of it, and what is counted
//	sealed.go    thinking that a model takes back only behind exactly what it was made behind
//	reread.go    results in the place of references to results that are no longer sent
//	recall.go    gives the agent's model back what was removed; called.go finds out whose model asks
//	forward.go   the request to the provider, and its answer back to the client
//	tee.go       reads the provider's usage, and the model's calls, from the answer as it passes
//	limits.go    learns a model's context limit from the provider's refusals
//	refuse.go    errors in the form of each API
//	plan.go      what was used of the user's plan
//	totals.go    what happened so far, as numbers
//
// The proxy changes nothing but what package body's edits cover. It adds no request, repeats none but one that was
// refused for its thinking, and sends the client's bytes wherever it is not sure. It stores and logs no key: a
// credential is hashed with a key of this process, to tell apart conversations whose clients send no id.
package proxy
