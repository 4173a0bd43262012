// Package mcp gives back what was removed: it serves the Model Context Protocol with one tool, thresh_recall, with which
// an agent's model finds again what a strategy took out of its conversation.
//
// 'thresh sessions mcp' runs it on standard input and output; the proxy and 'thresh serve' run it over HTTP at /mcp. Start at
// [Server]. Where parts are looked up is up to who makes the server.
//
//	answer.go    what a call asks for, and how a model reads what was found
//	stored.go    parts of a session of a store
//	protocol.go  the methods of the protocol, the same over both transports
//	lines.go     standard input and output: a message a line
//	http.go      the transport that the protocol calls streamable HTTP
//	stateless.go what the revision without initialize adds
//
// The server has no state: it answers tools/call also where no initialize came before, and needs no session of the
// transport. It serves the revision 2026-07-28, in which each request says what it is, and the four before it.
package mcp
