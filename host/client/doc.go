// Package client is for agents written in Go that use a host which 'thresh serve' serves. It has the operations of
// package host, with the values of package api; agents that would rather run the host in their own process use that one.
//
//	c, err := client.New("unix:/run/user/1000/thresh.sock", client.Options{})
//	…
//	s, err := c.Open(ctx, api.OpenRequest{ID: "chat-1"})
//	…
//	_, err = s.Add(ctx, api.Entries(task))
//	…
//	ready, err := s.Prepare(ctx, api.PrepareRequest{})
//	// send ready.History to the model, add its answer and the tool responses, and so on
//
//	client.go   the address, and what is about no session
//	call.go     one request: made, made again, read
//	session.go  one conversation
//	errors.go   a request without an answer
//
// A Client and its sessions are safe for concurrent use. A request is repeated for some seconds if the host could not be
// reached or was about to end, so that a restart goes unnoticed. An addition has a key by which the host recognises it:
// it is repeated after any error that a retry may mend, and takes place once. Nothing else is repeated. A deadline of the
// context goes to the host, which ends with it.
package client
