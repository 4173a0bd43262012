// Package access decides who may use a host that is served, and how much.
//
// A client proves who it is with a token. A token has a name, which owns sessions: two tokens see nothing of each
// other. The store keeps the names with a hash of each token, so that all hosts of one store accept the same ones and
// no file holds what would let someone in. On one machine there is also the local user, whose name is "" and whose
// token is in a file that only the user can read.
//
//	token.go  making, writing down and reading tokens
//	guard.go  who a token belongs to, and which profiles its sessions may choose
//	log.go    what is logged of tokens
//	limits.go how much a name may use
//	local.go  the local user's token file
//	body.go   what a client may send, and how long it may take
//	browser.go requests that web pages made a browser send
package access
