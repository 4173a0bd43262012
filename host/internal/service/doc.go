// Package service is what a host serves to agents: one implementation of every method, for all doors.
//
// A door only translates: it decodes a request into a type of this package, calls the method, and encodes the answer.
// Requests and answers are Go types with the JSON form of the JSON-RPC interface; a door with another form converts
// them.
//
// methods.go has the table of methods, which doors that call them by name go by.
//
// Methods are safe for concurrent use. In which order the requests of one session take effect is up to the door: HTTP
// requests have none, lines of one stream do. A door with an order uses [Session.Point] to keep from a request what was
// added after it.
package service
