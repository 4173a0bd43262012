// Package chat is OpenAI's Chat Completions API, which many servers share. What one of them adds is unknown here.
package chat

import (
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Form describes the API. The limit of the answer has two names: the older one is deprecated, but most servers know
// only that. Of the old form function_call, results cannot be paired, as it has no ids.
var Form = provider.Form{
	API: provider.Chat, List: "messages", Skip: []string{"tools", "response_format"},
	MaxOutput: []string{"max_tokens", "max_completion_tokens"}, SessionAt: "prompt_cache_key",
	Roles: []provider.Role{{Name: "user", Speaker: content.Human}, {Name: "assistant", Speaker: content.AI},
		{Name: "system", Speaker: content.Human, Pinned: true}, {Name: "developer", Speaker: content.Human, Pinned: true}},
	Content: "content", ContentText: true, MayBeEmpty: true, Parts: parts,
	CallsIn: "tool_calls", Call: call, ResultRole: "tool", Result: result, Old: []string{"function_call"},
	BeginsWithUser: true, PinnedFirst: true, Assistant: "assistant",
	TextType: func(content.Speaker) string { return "text" },
	Counts:   counts, Calls: calls, TooLong: TooLong, Ask: ask, Hear: hear, Server: "https://api.openai.com/v1", Path: "chat/completions",
}

// parts are the kinds of parts of a message's content. Servers that put this form in front of Anthropic's models take
// its cache markers where they are; no others are set.
var parts = []provider.Kind{
	{Type: "text", Is: provider.Text, Value: "text"},
	{Type: "image_url", Is: provider.Media, Usual: "image/*"},
	{Type: "input_audio", Is: provider.Media, Usual: "audio/*"},
	{Type: "file", Is: provider.Media},
	{Type: "refusal", Is: provider.Media, Usual: "text/plain"}, // goes with its message, and is never rewritten
}

var (
	call = provider.Kind{Type: "function", Is: provider.Call, By: content.AI, ID: "id", Name: "function.name",
		Value: "function.arguments", Quoted: true}
	result = provider.Kind{Is: provider.Result, ID: "tool_call_id", Name: "name", Value: "content"}
)
