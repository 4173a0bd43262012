package llm

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
)

type openAI struct {
	model    string
	endpoint endpoint
	// newLimit is set if the server wants max_completion_tokens: OpenAI's reasoning models refuse max_tokens, and many
	// compatible servers know nothing else. Any of the concurrent calls may learn it.
	newLimit atomic.Bool
}

// openAIBase is the server for an empty baseURL.
const openAIBase = "https://api.openai.com/v1"

// newOpenAI starts with the limit's new name for OpenAI's own server only.
func newOpenAI(p Profile, key string, client *http.Client) (*openAI, error) {
	header := http.Header{}
	if key != "" { // local servers need none
		header.Set("Authorization", "Bearer "+key)
	}
	e, err := newEndpoint(p, openAIBase, "chat/completions", header, client)
	o := &openAI{model: p.Model, endpoint: e}
	o.newLimit.Store(p.official())
	return o, err
}

// chatRequest is the part of a chat completion request that is used here.
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

type chatMessage struct {
	Role    Role   `json:"role"` // or system
	Content string `json:"content"`
}

// chatChunk is one event of the answer. Counts are in tokens.
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

// generate streams the answer, as Anthropic's backend does. Texts of one role are joined with a blank line: many
// compatible servers accept only one string per message.
func (o *openAI) generate(ctx context.Context, req Request, maxOutput int, x *exchange, a *answer) error {
	body := chatRequest{Model: o.model, Stream: true}
	// Without it a stream has no usage.
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
		body.Messages = append(body.Messages, chatMessage{t.role, strings.Join(t.texts, "\n\n")})
	}
	return stream(ctx, o.endpoint, body, x, func(chunk chatChunk) error { return o.take(chunk, a) })
}

// take adds one event to the answer. More than the first choice is never requested.
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

// adapt switches to the other name of the limit if the server's message suggests it: there is no common error code.
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
