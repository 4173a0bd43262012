// Package mcp gives removed results back: it serves the Model Context Protocol with one tool, thresh_recall, with which
// an agent's model reads again what a strategy took out of its conversation.
//
// 'thresh mcp' runs it on standard input and output; the proxy and 'thresh serve' run it over HTTP at /mcp. Start at
// [Server]. Where a result is looked up is up to who makes the server.
//
//	protocol.go  the methods of the protocol, the same over both transports
//	lines.go     standard input and output: a message a line
//	http.go      the transport that the protocol calls streamable HTTP
//
// The server has no state: it answers tools/call also where no initialize came before, and needs no session of the
// transport. It offers the revisions of the protocol up to 2025-11-25; clients of later ones go back to these.
package mcp
