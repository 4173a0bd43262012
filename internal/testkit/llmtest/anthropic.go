package llmtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// anthropic implements the protocol of Anthropic's messages endpoint. The error texts are the provider's own: clients
// match on them. It has no state: everything about a request is in the request.
type anthropic struct{}

// anthropicRequest is the part of a request that is validated. Pointers tell a missing field from a zero.
type anthropicRequest struct {
	Model string `json:"model"`
	// A text or a list of text blocks, read by [parts].
	System    json.RawMessage `json:"system"`
	MaxTokens *int            `json:"max_tokens"`
	Stream    bool            `json:"stream"`
	Messages  []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// parse reads a request and checks its fields, then its messages.
func (p anthropic) parse(header http.Header, body []byte) (Request, *failure) {
	req := Request{Kind: "anthropic", Header: header, Body: body, Key: header.Get("X-Api-Key")}
	var in anthropicRequest
	// The one header that the endpoint requires besides the key, whatever the value.
	if header.Get("anthropic-version") == "" {
		return req, badRequest("anthropic-version: header is required")
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return req, badRequest("The request body is not valid JSON: %v", err)
	}
	req.Model, req.Stream = in.Model, in.Stream
	system, err := parts(in.System)
	if err != nil {
		return req, badRequest("system: %v", err)
	}
	text, blank := textOf(system)
	req.System = text
	switch {
	case in.Model == "":
		return req, badRequest("model: Field required")
	case in.MaxTokens == nil:
		return req, badRequest("max_tokens: Field required")
	case *in.MaxTokens < 1:
		return req, badRequest("max_tokens: must be greater than or equal to 1")
	case blank:
		return req, badRequest("system: text content blocks must be non-empty")
	case len(in.Messages) == 0:
		return req, badRequest("messages: at least one message is required")
	}
	// Only from here on is a request complete enough to be counted.
	req.MaxTokens = *in.MaxTokens
	bad := p.messages(&req, in)
	// Also of a refused request: tests look at the size of what was sent.
	req.count()
	return req, bad
}

// messages checks the conversation: roles alternate, no message is empty, and the message after a call answers it.
func (anthropic) messages(req *Request, in anthropicRequest) *failure {
	// Ids in the order of the calls; an id that occurs twice must be answered twice.
	var open []string // calls that the next message must answer
	for i, m := range in.Messages {
		content, err := parts(m.Content)
		if err != nil {
			return badRequest("messages.%d.content: %v", i, err)
		}
		text, blank := textOf(content)
		out := Message{Role: m.Role, Text: text}
		// Blocks that are neither are text, or of no interest here.
		for _, c := range content {
			switch c.Type {
			case "tool_use":
				out.Calls = append(out.Calls, c.ID)
			case "tool_result":
				out.Results = append(out.Results, c.ToolUseID)
			}
		}
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return badRequest("messages.%d.role: Input should be 'user' or 'assistant'", i)
		case i == 0 && m.Role != "user":
			return badRequest("messages: first message must use the \"user\" role")
		case i > 0 && m.Role == in.Messages[i-1].Role:
			return badRequest("messages: roles must alternate between \"user\" and \"assistant\", but found multiple "+
				"%q roles in a row (messages.%d)", m.Role, i)
		case len(content) == 0:
			return badRequest("messages.%d: all messages must have non-empty content except for the optional final "+
				"assistant message", i)
		// The API refuses blank text everywhere, which summaries of blank answers run into.
		case blank:
			return badRequest("messages.%d: text content blocks must contain non-whitespace text", i)
		case m.Role == "assistant" && i == len(in.Messages)-1 && strings.TrimRight(text, " \t\r\n") != text:
			return badRequest("messages: final assistant content cannot end with trailing whitespace")
		}
		// Results may stand in any order, but only in the very next message.
		for _, id := range out.Results {
			at := slices.Index(open, id)
			if at < 0 {
				return badRequest("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s", i, id)
			}
			open = slices.Delete(open, at, at+1)
		}
		if len(open) > 0 {
			return badRequest("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately "+
				"after: %s", i-1,
				strings.Join(open, ", "))
		}
		// They are answered by the next message, or never.
		open = slices.Clone(out.Calls)
		req.Messages = append(req.Messages, out)
	}
	if len(open) > 0 {
		return badRequest("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s",
			len(in.Messages)-1, strings.Join(open, ", "))
	}
	return nil
}

// unauthorized repeats the key in its message, as providers may: what the host shows and logs must not contain it.
func (anthropic) unauthorized(key string) *failure {
	return &failure{status: http.StatusUnauthorized, kind: "authentication_error", message: "invalid x-api-key: " + key}
}

// noModel uses the text of the real endpoint, which is just the name of the model.
func (anthropic) noModel(model string) *failure {
	return &failure{status: http.StatusNotFound, kind: "not_found_error", message: "model: " + model}
}

// tooLong distinguishes a prompt that alone exceeds the window from one that leaves too little room for the answer.
// Clients parse the numbers.
func (anthropic) tooLong(req Request, window int) *failure {
	if req.InputTokens > window {
		return badRequest("prompt is too long: %d tokens > %d maximum", req.InputTokens, window)
	}
	return badRequest("input length and `max_tokens` exceed context limit: %d + %d > %d, decrease input length or "+
		"`max_tokens` and try again",
		req.InputTokens, req.MaxTokens, window)
}
