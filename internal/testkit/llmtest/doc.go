// Package llmtest is the server of a model provider, without a model. It speaks the wire protocols of OpenAI (chat
// completions) and Anthropic (messages), with plain JSON and with streamed events. It validates requests as strictly
// as the strictest provider of each protocol, and it fails on demand in the ways in which providers fail.
//
// It is for the tests of this module and for examples/llm-server. Start at [New] in a test: the server listens on a
// free port, stops when the test ends, and records its requests ([Handler.Calls]). [NewHandler] is the same without a
// listener. What the server answers is a [Reply], made by [Options.Reply] or queued with [Handler.Script].
//
// How the files relate: handler.go routes and records requests; openai.go and anthropic.go parse and validate them,
// each with a file *_answer.go for what is sent back; stream.go writes events and misbehaves as reply.go describes.
//
// Tokens are bytes / 4, rounded up.
package llmtest
