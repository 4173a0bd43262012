// Package llmtest is the server of a model provider, without a model, for tests of clients and for examples/llm-server.
// The protocols, what they refuse and how they answer, are those of package modelapi: OpenAI's chat completions and
// Anthropic's messages. Here is what the server answers, a [Reply], made by [Options.Reply] or queued with
// [Handler.Script], and how it fails on demand in the ways in which providers fail.
//
// Start at [New] in a test: the server listens on a free port, stops when the test ends, and records its requests
// ([Handler.Calls]). [NewHandler] is the same without a listener.
//
// Tokens are bytes / 4, rounded up.
package llmtest
