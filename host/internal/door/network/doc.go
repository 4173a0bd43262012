// Package network serves a host to many agents over one address: gRPC, gRPC-Web and Connect, which is JSON or protobuf
// over HTTP. proto/thresh/v1/session.proto describes the methods.
//
// 'thresh serve' runs it. It is a thin door: it decides whether a request may come in, converts it, calls package
// service, and converts the answer.
//
//	handler.go   everything that is served at an address
//	gate.go      who may come in: tokens, browsers, how many requests at a time
//	calls.go     the methods of SessionService that are about a session
//	turns.go     the methods that run a turn, and watching them
//	plugins.go   the methods that are about no session
//	convert.go   between protobuf and package service
//	codec.go     reads JSON, strictly
//	errors.go    errors as status codes with details
//	log.go       one line of log per request
//	server.go    an HTTP server on a listener, and how it ends, also for other doors
//	listen.go    the listener, and what kind of address it is
//
// The requests of one session have no order but that in which they arrive: an agent that wants one waits for answers.
package network
