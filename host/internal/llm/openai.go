package llm

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
)

// openAI reaches servers that speak OpenAI's chat completions.
type openAI struct {
	model    string
	endpoint endpoint
	// newLimit is set if the server wants max_completion_tokens: OpenAI's reasoning models refuse max_tokens, and many
	// compatible servers know nothing else. It is atomic because concurrent calls share the backend, and any of them
	// may learn it.
	newLimit atomic.Bool
}

// openAIBase is the server that an empty baseURL means.
const openAIBase = "https://api.openai.com/v1"

// newOpenAI returns the backend. It starts with the limit's new name for OpenAI's own server only.
func newOpenAI(p Profile, key string, client *http.Client) (*openAI, error) {
	header := http.Header{}
	if key != "" { // servers on one's own machine need none
		header.Set("Authorization", "Bearer "+key)
	}
	e, err := newEndpoint(p, openAIBase, "chat/completions", header, client)
	o := &openAI{model: p.Model, endpoint: e}
	o.newLimit.Store(p.official())
	return o, err
}

// chatRequest is the part of a chat completion request that is used here. A limit of 0 is left out.
type chatRequest struct {
	Model               string        `json:"model"`
	Messages            []chatMessage `json:"messages"`
	MaxTokens           int           `json:"max_tokens,omitempty"`
	MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
	Stream              bool          `json:"stream"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// chatMessage is one message; content is plain text only.
type chatMessage struct {
	Role    string `json:"role"` // system, user or assistant
	Content string `json:"content"`
}

// chatChunk is one event of the answer. All counts are in tokens.
type chatChunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		PromptDetails    struct {
			CachedTokens     int `json:"cached_tokens"`
			CacheWriteTokens int `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// generate streams the answer, for the same reason as the Anthropic backend. Texts of one role are joined with a blank
// line, because many compatible servers accept only one string per message.
func (o *openAI) generate(ctx context.Context, req Request, maxOutput int, x *exchange, a *answer) error {
	body := chatRequest{Model: o.model, Stream: true}
	// Without it a stream ends without usage, and what the call cost would not be known.
	body.StreamOptions.IncludeUsage = true
	if o.newLimit.Load() {
		body.MaxCompletionTokens = maxOutput
	} else {
		body.MaxTokens = maxOutput
	}
	if req.System != "" {
		body.Messages = append(body.Messages, chatMessage{"system", req.System})
	}
	for _, t := range turns(req.Messages) {
		role := "assistant"
		if t.role == User {
			role = "user"
		}
		body.Messages = append(body.Messages, chatMessage{role, strings.Join(t.texts, "\n\n")})
	}
	return stream(ctx, o.endpoint, body, x, func(chunk chatChunk) error { return o.take(chunk, a) })
}

// take adds one event to the answer. Only the first choice counts; more are never requested.
func (o *openAI) take(chunk chatChunk, a *answer) error {
	if chunk.Model != "" {
		a.model = chunk.Model
	}
	// Some servers send the usage so far with each chunk.
	if u := chunk.Usage; u.PromptTokens > 0 || u.CompletionTokens > 0 {
		a.input, a.output = u.PromptTokens, u.CompletionTokens
		a.cacheRead, a.cacheWrite = u.PromptDetails.CachedTokens, u.PromptDetails.CacheWriteTokens
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
		if err := a.say(choice.Delta.Content); err != nil {
			return err
		}
	}
	return nil
}

// adapt switches to the other name of the limit if the server's message names it as the cause. Servers have no common
// error code for this, hence the look at the text. true asks for the call to be repeated, which happens once at most.
func (o *openAI) adapt(e *Error) bool {
	wrong, right := "max_tokens", "max_completion_tokens"
	if o.newLimit.Load() {
		wrong, right = right, wrong
	}
	if e.Status != http.StatusBadRequest || !strings.Contains(e.Message, "'"+wrong+"'") ||
		!strings.Contains(e.Message, right) {
		return false
	}
	o.newLimit.Store(right == "max_completion_tokens")
	return true
}
