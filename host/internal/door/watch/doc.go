// Package watch shows people what the sessions of a running host do: how much is sent and saved, what was removed and
// why, and what that is worth.
//
// 'thresh top' and the page at /ui read it. Doors tell a [Recorder] of each turn; [Recorder.Handler] serves what it
// knows. Start there.
//
//	recorder.go  what is kept of each session, and how doors report it
//	reason.go    why a turn changed a history, in words
//	data.go      the JSON that is served
//	handler.go   the addresses below /ui
//	page.html    the page: no other file is loaded, and it can change nothing
//
// All of it is of this process: it begins when the host starts, and ends with it.
package watch
