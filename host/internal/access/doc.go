// Package access decides who may use a host that is served, and how much.
//
// A client shows a token. Its name owns sessions, and sees none of other names'. The store has the names with a hash of
// each token: all its hosts accept the same ones, and no file can let someone in. On one machine there is also the
// local user, with the name "" and a token in a file that only the user can read.
//
// Start at [Guard].
//
//	token.go  making, writing down and reading tokens
//	guard.go  who a token belongs to, and which profiles its sessions may choose
//	log.go    what is logged of tokens
//	limits.go how much a name may use
//	local.go  the local user's token file
//	body.go   what a client may send, and how long it may take
//	browser.go requests that web pages made a browser send
package access
