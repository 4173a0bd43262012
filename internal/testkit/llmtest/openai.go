package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// openAI implements the protocol of OpenAI's chat completions. The error texts are the provider's own: clients match on
// them. refuseMaxTokens: newer models take max_completion_tokens alone.
type openAI struct{ refuseMaxTokens bool }

// openAIRequest is the part of a request that is validated. Pointers tell a missing field from a zero.
type openAIRequest struct {
	Model               string          `json:"model"`
	Messages            []openAIMessage `json:"messages"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	Stream              bool            `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// Roles are system, developer, user, assistant and tool; a tool's message answers one call. Content is a string or a
// list of parts; other fields are not looked at.
type openAIMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

// parse reads a request and checks its fields, then its messages.
func (p openAI) parse(header http.Header, body []byte) (Request, *failure) {
	req := Request{Kind: "openai", Header: header, Body: body}
	req.Key, _ = strings.CutPrefix(header.Get("Authorization"), "Bearer ")
	var in openAIRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return req, badRequest("We could not parse the JSON body of your request: %v", err)
	}
	req.Model, req.Stream = in.Model, in.Stream
	req.IncludeUsage = in.StreamOptions != nil && in.StreamOptions.IncludeUsage
	// Nil if the client leaves the limit to the server, which this protocol allows.
	limit := in.MaxCompletionTokens
	switch {
	case in.Model == "":
		return req, badRequest("you must provide a model parameter")
	case in.StreamOptions != nil && !in.Stream:
		return req, badRequest("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	case in.MaxTokens != nil && in.MaxCompletionTokens != nil:
		return req, badRequest("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case in.MaxTokens != nil && p.refuseMaxTokens:
		bad := badRequest("Unsupported parameter: 'max_tokens' is not supported with this model. Use " +
			"'max_completion_tokens' instead.")
		bad.code = "unsupported_parameter"
		return req, bad
	case in.MaxTokens != nil:
		limit = in.MaxTokens
	}
	if limit != nil {
		if req.MaxTokens = *limit; *limit < 1 {
			return req, badRequest("Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but "+
				"got %d instead.", *limit)
		}
	}
	// Counted also for a request that is refused: tests look at both.
	bad := p.messages(&req, in.Messages)
	req.count()
	return req, bad
}

// messages checks the conversation: no message is empty, and every call is answered before anything else is said.
func (openAI) messages(req *Request, in []openAIMessage) *failure {
	if len(in) == 0 {
		return badRequest("Invalid 'messages': empty array. Expected an array with minimum length 1, but got an " +
			"empty array instead.")
	}
	var open []string // calls without an answer yet
	for i, m := range in {
		content, err := parts(m.Content)
		if err != nil {
			return badRequest("Invalid type for 'messages[%d].content': %v", i, err)
		}
		// blank says that one of the parts is a blank text, which the endpoint refuses.
		text, blank := textOf(content)
		out := Message{Role: m.Role, Text: text}
		// Said of the message that comes too early, with the text of the real endpoint.
		if m.Role != "tool" && len(open) > 0 {
			return badRequest("An assistant message with 'tool_calls' must be followed by tool messages responding "+
				"to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s",
				strings.Join(open, ", "))
		}
		for _, call := range m.ToolCalls {
			out.Calls = append(out.Calls, call.ID)
		}
		switch m.Role {
		// Anywhere in the conversation; all of them together are the system prompt.
		case "system", "developer":
			req.System = strings.TrimPrefix(req.System+"\n\n"+text, "\n\n")
		case "user":
		case "assistant":
			// A copy, as answered calls are deleted from it.
			open = slices.Clone(out.Calls)
		case "tool":
			at := slices.Index(open, m.ToolCallID)
			if at < 0 {
				return badRequest("Invalid parameter: messages with role 'tool' must be a response to a preceeding "+
					"message with 'tool_calls'. (messages[%d])", i)
			}
			open, out.Results = slices.Delete(open, at, at+1), []string{m.ToolCallID}
		default:
			return badRequest("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'tool', and "+
				"'developer'. (messages[%d].role)", m.Role, i)
		}
		// An assistant's message may consist of calls alone.
		if blank || len(content) == 0 && len(out.Calls) == 0 {
			return badRequest("Invalid 'messages[%d].content': empty. Expected some text.", i)
		}
		if m.Role != "system" && m.Role != "developer" {
			req.Messages = append(req.Messages, out)
		}
	}
	// The conversation must not end with calls that wait: the model has nothing to say to them.
	if len(open) > 0 {
		return badRequest("An assistant message with 'tool_calls' must be followed by tool messages responding to "+
			"each 'tool_call_id'. The following tool_call_ids did not have response messages: %s",
			strings.Join(open, ", "))
	}
	return nil
}

// unauthorized repeats the key, as OpenAI does; see the same method of anthropic.
func (openAI) unauthorized(key string) *failure {
	return &failure{status: http.StatusUnauthorized, kind: "invalid_request_error", code: "invalid_api_key",
		message: "Incorrect API key provided: " + key + ". You can find your API key in your account."}
}

// noModel is a 404 with a code. Clients must not take it for a wrong URL, which is a 404 without JSON.
func (openAI) noModel(model string) *failure {
	return &failure{status: http.StatusNotFound, kind: "invalid_request_error", code: "model_not_found",
		message: fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", model)}
}

// tooLong counts the prompt and the requested completion together, as OpenAI does. Clients match on the code.
func (openAI) tooLong(req Request, window int) *failure {
	bad := badRequest("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the "+
		"messages, %d in the completion). Please reduce the length of the messages or completion.", window,
		req.InputTokens+req.MaxTokens, req.InputTokens,
		req.MaxTokens)
	bad.code = "context_length_exceeded"
	return bad
}
