package llm

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// openAI reaches servers that speak chat completions.
type openAI struct {
	model string
	chat  openai.ChatCompletionService
	// newLimit says that the server wants max_completion_tokens: OpenAI's reasoning models refuse max_tokens, and many
	// compatible servers know nothing else.
	newLimit atomic.Bool
}

func newOpenAI(p Profile, key string, client *http.Client) *openAI {
	// The service is built by itself, as openai.NewClient would read the environment.
	options := []option.RequestOption{option.WithEnvironmentProduction(), option.WithHTTPClient(client), option.WithMaxRetries(0)}
	if p.BaseURL != "" {
		options = append(options, option.WithBaseURL(p.BaseURL))
	}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	o := &openAI{model: p.Model, chat: openai.NewChatCompletionService(options...)}
	o.newLimit.Store(p.official())
	return o
}

func (o *openAI) generate(ctx context.Context, req Request, maxOutput int, x *exchange, a *answer) error {
	params := openai.ChatCompletionNewParams{Model: o.model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}}
	if o.newLimit.Load() {
		params.MaxCompletionTokens = openai.Int(int64(maxOutput))
	} else {
		params.MaxTokens = openai.Int(int64(maxOutput))
	}
	if req.System != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(req.System))
	}
	for _, t := range turns(req.Messages) {
		text := strings.Join(t.texts, "\n\n")
		if t.role == User {
			params.Messages = append(params.Messages, openai.UserMessage(text))
		} else {
			params.Messages = append(params.Messages, openai.AssistantMessage(text))
		}
	}
	stream := o.chat.NewStreaming(ctx, params, option.WithMiddleware(x.middleware))
	defer stream.Close()
	for stream.Next() {
		if err := o.take(stream.Current(), a); err != nil {
			return err
		}
	}
	return stream.Err()
}

func (o *openAI) take(chunk openai.ChatCompletionChunk, a *answer) error {
	if chunk.Model != "" {
		a.model = chunk.Model
	}
	// Some servers send the usage so far with each chunk.
	if u := chunk.Usage; u.PromptTokens > 0 || u.CompletionTokens > 0 {
		a.input, a.output = int(u.PromptTokens), int(u.CompletionTokens)
		a.cacheRead, a.cacheWrite = int(u.PromptTokensDetails.CachedTokens), int(u.PromptTokensDetails.CacheWriteTokens)
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

// adapt is true if the request would go well with the other name of the limit, and puts that name in force.
func (o *openAI) adapt(e *Error) bool {
	wrong, right := "max_tokens", "max_completion_tokens"
	if o.newLimit.Load() {
		wrong, right = right, wrong
	}
	if e.Status != http.StatusBadRequest || !strings.Contains(e.Message, "'"+wrong+"'") || !strings.Contains(e.Message, right) {
		return false
	}
	o.newLimit.Store(right == "max_completion_tokens")
	return true
}
