// Package modelapi is a server of four model APIs for tests of agents and proxies: Anthropic's Messages, OpenAI's Chat
// Completions and Responses, and Gemini's generateContent, streamed and not. There is no model: a script decides which
// tools are called, or [Options.Reply] what is said.
//
// It is strict where real servers are: calls and results must be paired and stand where they belong, reasoning must be
// the one that was issued, with what follows it and, for Anthropic's newest models ([Options.Binds]), with what stood
// before it, roles must be in order, and cache markers are counted. What does not hold is answered with 400 in the API's
// own words, and kept in [Server.Refused]. It simulates the prompt cache and reports cached tokens, has a context limit,
// and fails, stalls and cuts streams on demand ([Reply]).
//
//	server.go    options and records; serve.go answers a request
//	request.go   what was received
//	reply.go     what a test decides about an answer: its text, and how it fails
//	script.go    what the "model" does, with the tools that the request offers; tools.go fills their parameters
//	cache.go     the prompt cache
//	messages.go, chat.go, responses.go, gemini.go   read and judge the requests of one API, and write its answers
//	messages_answer.go   the answers of the Messages API
//	thinking.go  thinking of the Messages API; binding.go: what it is bound to
//	sections.go  messages of role system within a conversation of the Messages API
//	compaction.go   compaction on demand of the Messages API
//	stream.go    events
//
// Tokens are bytes / 4.
package modelapi
