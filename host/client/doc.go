// Package client is for agents written in Go that use a host which 'thresh serve' serves. It has the operations of
// package host; agents that would rather run the host in their own process use that one.
//
//	c, err := client.New("unix:/run/user/1000/thresh.sock", client.Options{})
//	…
//	s, err := c.Open(ctx, client.OpenOptions{ID: "chat-1"})
//	…
//	_, err = s.Add(ctx, content.Content{Speaker: content.Human, Blocks: []content.Block{task}})
//	…
//	ready, err := s.Prepare(ctx, client.PrepareOptions{})
//	// send ready.History to the model, add its answer and the tool responses, and so on
//
//	client.go   the connection, and what is about no session
//	session.go  one conversation
//	errors.go   what a method returned in place of an answer
//
// A Client and its sessions are safe for concurrent use. An addition has a key by which the host recognises it: it is
// repeated after an error of the connection, and takes place once. No other request is repeated.
package client
