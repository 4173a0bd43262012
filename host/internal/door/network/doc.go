// Package network serves a host to many agents over one address: POST /v1/METHOD, with the methods and the JSON of
// package api, as 'thresh run' has them in lines.
//
// 'thresh serve' runs it. It is a thin door: it decides whether a request may come in, has package service read it and find
// its session, calls the row of package api, and writes the answer. It knows no method by name.
//
//	handler.go      everything that is served at an address
//	gate.go         who may come in: tokens, browsers, how many requests at a time
//	calls.go        calls methods for a caller
//	answer.go       answers, whole or in lines
//	errors.go       the errors of this door
//	log.go          one line of log per request
//	server.go       an HTTP server on a listener, and how it ends, also for other doors
//	listen.go       the listener, and what kind of address it is
//	descriptors.go  how many connections there may be
//	ready.go        whether requests should be sent here
//
// The requests of one session have no order but that in which they arrive: an agent that wants one waits for answers.
package network
