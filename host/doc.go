// Package host keeps the conversation histories of LLM agents under their models' context limits, with strategies
// that run as plugins. It is the embedding API: for agents written in Go. Agents in other languages use 'thresh run',
// which serves the same operations over JSON-RPC.
//
// [Open] makes a [Host], which finds plugins and starts them when they are needed. [Host.Open] opens a [Session] for
// one conversation. [Session.Add] takes every message as it arrives, and before every model call [Session.Prepare]
// returns a history that is safe to send:
//
//	h, err := host.Open(host.Options{})
//	…
//	defer h.Close()
//	s, err := h.Open(ctx, api.OpenRequest{})
//	…
//	task := content.Text{Text: "fix the test"}
//	_, err = s.Add(ctx, api.Entries(content.Content{Speaker: content.Human, Blocks: []content.Block{task}}))
//	…
//	ready, err := s.Prepare(ctx, api.PrepareRequest{})
//	// send ready.History to the model, add its answer and the tool responses, and so on
//
// The package's example is a whole loop that runs; examples/embedding in the repository is a program.
//
// # Concurrency
//
// A Host and its sessions are safe for concurrent use. Sessions work independently of each other. In one session, one
// Prepare or Compress runs at a time, and Add never waits for it.
//
// # Errors
//
// What [api.Host] and [api.Session] have returns an [*api.Error], with its kind, whether a retry can help, and which
// plugin failed. For single causes there are values for [errors.Is], such as [ErrClosed]. A setting that is wrong is a
// *config.Error, with its file and line. After a failed Prepare the history is valid and the session can be used: the
// agent may retry, change a setting, send the history as it is, or stop.
//
// # What is where
//
// What methods take and return is in package api, which a client of a served host uses too: an agent that is written
// for [api.Session] runs with either. Settings are in package config, the entries of a history in sdk/content. What a
// turn did is described by package outcome: those types are data that several rooms of the host fill in and that
// embedders, JSON-RPC and reports show, so they are in a package of their own that all of these can import. Everything
// else of the host is internal.
//
// # Plugins
//
// A program that embeds the host calls [ReexecMain] first in main. Without it, the program has no strategies but those
// in files, and they run without isolation.
//
// # Size
//
// Package host links what every setting may ask for. Build a program with the tags thresh_no_sqlite and
// thresh_no_postgres if it keeps sessions in memory, the default of sessions.store: another value is then an error that
// names the tag. The tag thresh_o200k leaves out the vocabularies of OpenAI's models before GPT-4o, which are then
// counted approximately. docs/performance.md has the figures. What remains is mostly Go's own: TLS, gRPC and go-plugin,
// which speak with strategies, and one vocabulary of 4 MB.
package host
