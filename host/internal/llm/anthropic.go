package llm

import (
	"context"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// anthropicMessages is the backend for servers with Anthropic's Messages API. It has no state of its own, so calls may
// run concurrently.
type anthropicMessages struct {
	model    string
	messages anthropic.MessageService
}

// newAnthropic never fails: the URL was checked with the profile. The library's retries are off, because
// [Client.persist] retries, within the call's timeout and with errors that say so.
func newAnthropic(p Profile, key string, client *http.Client) *anthropicMessages {
	// The service is built directly, because anthropic.NewClient would read the environment.
	options := []option.RequestOption{
		option.WithEnvironmentProduction(), option.WithHTTPClient(client), option.WithMaxRetries(0),
	}
	if p.BaseURL != "" {
		options = append(options, option.WithBaseURL(p.BaseURL))
	}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	return &anthropicMessages{model: p.Model, messages: anthropic.NewMessageService(options...)}
}

// generate streams the answer even though only the whole text is used: without events the idle timeout could not tell a
// slow model from a dead server.
func (m *anthropicMessages) generate(ctx context.Context, req Request, maxOutput int, x *exchange, a *answer) error {
	params := anthropic.MessageNewParams{Model: m.model, MaxTokens: int64(maxOutput)}
	if req.System != "" {
		params.System = []anthropic.TextBlockParam{{Text: req.System}}
	}
	for _, t := range turns(req.Messages) {
		var blocks []anthropic.ContentBlockParamUnion
		for _, text := range t.texts {
			blocks = append(blocks, anthropic.NewTextBlock(text))
		}
		if t.role == User {
			params.Messages = append(params.Messages, anthropic.NewUserMessage(blocks...))
		} else {
			params.Messages = append(params.Messages, anthropic.NewAssistantMessage(blocks...))
		}
	}
	stream := m.messages.NewStreaming(ctx, params, option.WithMiddleware(x.middleware))
	defer stream.Close()
	for stream.Next() {
		if err := m.take(stream.Current(), a); err != nil {
			return err
		}
	}
	return stream.Err()
}

// take adds one event to the answer. Thinking and other blocks are skipped. Anthropic's input_tokens excludes cached
// tokens, so these are added; providers agree on the meaning of input only after that.
func (m *anthropicMessages) take(event anthropic.MessageStreamEventUnion, a *answer) error {
	switch event.Type {
	case "message_start":
		u := event.Message.Usage
		a.model = string(event.Message.Model)
		a.cacheRead, a.cacheWrite = int(u.CacheReadInputTokens), int(u.CacheCreationInputTokens)
		a.input, a.output = int(u.InputTokens)+a.cacheRead+a.cacheWrite, int(u.OutputTokens)
	case "content_block_start":
		if event.ContentBlock.Type == "text" {
			return a.say(event.ContentBlock.Text)
		}
	case "content_block_delta":
		if event.Delta.Type == "text_delta" {
			return a.say(event.Delta.Text)
		}
	case "message_delta":
		a.finish = string(event.Delta.StopReason)
		// Counts are cumulative; not every server repeats the input counts.
		if u := event.Usage; u.InputTokens > 0 {
			a.cacheRead, a.cacheWrite = int(u.CacheReadInputTokens), int(u.CacheCreationInputTokens)
			a.input = int(u.InputTokens) + a.cacheRead + a.cacheWrite
		}
		a.output = int(event.Usage.OutputTokens)
	}
	return nil
}

// adapt changes nothing: the API has only one form of request.
func (m *anthropicMessages) adapt(*Error) bool { return false }
