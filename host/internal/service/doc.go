// Package service is what a host serves to agents: one implementation of every method, for all doors.
//
// A door translates: it decodes a request into the type that stands here, calls the method, and encodes the answer. Two
// doors that did more would soon differ. Requests and answers are Go types whose JSON form is that of the JSON-RPC
// interface; a door with another form converts them.
//
//	service.go  what is about no session: what this thresh can do, counting, plugins
//	session.go  opening, the state and the settings of a session, closing
//	add.go      adding entries and messages
//	prepare.go  preparing and compressing, and what an agent already has
//	history.go  reading the owned history, and what was recorded
//	attach.go   sessions that several connections use, found by owner and id
//	watch.go    reports of turns to those that watch
//	errors.go   requests that are wrong in themselves
//
// Methods are safe for concurrent use. In which order the requests of one session take effect is up to the door: HTTP
// requests have none, lines of one stream do. A door with an order uses [Session.Mark] to keep from a request what was
// added after it.
package service
