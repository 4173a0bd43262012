// Package service is how doors call a host by the names of methods: it reads a request, finds its session, and has the
// row of package api call it. What a method does, package host does; what it is called with, package api says.
//
//	methods.go   the rows of a door, found by name
//	read.go      parameters, read to the letter
//	attach.go    sessions that stay open between the requests of doors without connections of their own
//	service.go   a host as one of its callers has it
//	errors.go    an error, as agents get it
//	gateway.go   the same by other names, for gateways that speak Headroom's contract
//
// Methods are safe for concurrent use. In which order the requests of one session take effect is up to the door: HTTP
// requests have none, lines of one stream do. A door with an order uses [host.Session.At] to keep from a request what
// was added after it.
package service
