// Package llmtest is a model's server without a model. It speaks the wire protocols of OpenAI (chat completions) and
// Anthropic (messages), as JSON and as a stream of events, judges requests as strictly as the strictest of those
// providers, and fails on demand in the ways in which they fail.
//
// It is for the tests of this module and for the example server. Start at [New] in a test: the server listens on a port
// of its own, ends with the test, and records what it was asked ([Server.Calls]). [NewHandler] is the same without a
// listener. What it answers is a [Reply], made by [Options.Reply] or queued with [Handler.Script].
//
// Tokens are counted as bytes / 4, rounded up.
package llmtest
