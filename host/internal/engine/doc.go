// Package engine owns the conversation history of LLM agents and keeps each under its model's context limit, with
// strategies that run as plugins.
//
// It is for agent authors. [Open] reads the configuration and finds the plugins; [Host.Session] begins a conversation;
// [Session.Add] takes every message as it comes; and before each call of the model, [Session.Prepare] returns the history
// that is safe to send:
//
//	h, err := host.Open(host.Options{})
//	…
//	s, err := h.Session(host.SessionOptions{})
//	…
//	err = s.Add(content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: "fix the test"}}})
//	…
//	ready, err := s.Prepare(ctx, host.PrepareOptions{})
//	// send ready.History to the model, add what it answers, and so on
//	…
//	err = h.Close()
//
// A Host and its sessions are safe for concurrent use. Many sessions work at the same time; in one session, one Prepare
// runs at a time, and Add never waits for it.
package engine
