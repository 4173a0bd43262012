package llm

import (
	"context"
	"net/http"
)

// anthropicMessages is the backend for Anthropic's Messages API. It is stateless: calls may run concurrently.
type anthropicMessages struct {
	model    string
	endpoint endpoint
}

// anthropicBase is the server for an empty baseURL, and anthropicVersion the API's only version.
const (
	anthropicBase    = "https://api.anthropic.com"
	anthropicVersion = "2023-06-01"
)

// newAnthropic sends no header for an empty key. The error is about baseURL.
func newAnthropic(p Profile, key string, client *http.Client) (*anthropicMessages, error) {
	header := http.Header{"Anthropic-Version": {anthropicVersion}}
	if key != "" {
		header.Set("X-Api-Key", key)
	}
	e, err := newEndpoint(p, anthropicBase, "v1/messages", header, client)
	return &anthropicMessages{model: p.Model, endpoint: e}, err
}

// messagesRequest is the part of a Messages request that is used here. The API requires max_tokens.
type messagesRequest struct {
	Model     string         `json:"model"`
	MaxTokens int            `json:"max_tokens"`
	System    []textBlock    `json:"system,omitempty"`
	Messages  []blockMessage `json:"messages"`
	Stream    bool           `json:"stream"`
}

type blockMessage struct {
	Role    Role        `json:"role"`
	Content []textBlock `json:"content"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// messagesEvent is one event of the answer; fields that its type does not have are zero.
type messagesEvent struct {
	Type    string `json:"type"`
	Message struct {
		Model string        `json:"model"`
		Usage messagesUsage `json:"usage"`
	} `json:"message"`
	ContentBlock textBlock `json:"content_block"`
	Delta        struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage messagesUsage `json:"usage"`
}

// messagesUsage is in tokens. InputTokens excludes cache reads and writes.
type messagesUsage struct {
	InputTokens              int `json:"input_tokens"`
	OutputTokens             int `json:"output_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
}

// generate streams the answer, although only the whole text is used: without events the idle timeout could not tell a
// slow model from a dead server.
func (m *anthropicMessages) generate(ctx context.Context, req Request, maxOutput int, x *exchange, a *answer) error {
	// Messages is not nil: the API refuses null.
	body := messagesRequest{Model: m.model, MaxTokens: maxOutput, Stream: true, Messages: []blockMessage{}}
	if req.System != "" {
		body.System = []textBlock{{"text", req.System}}
	}
	for _, t := range turns(req.Messages) {
		message := blockMessage{Role: t.role}
		for _, text := range t.texts {
			message.Content = append(message.Content, textBlock{"text", text})
		}
		body.Messages = append(body.Messages, message)
	}
	return stream(ctx, m.endpoint, body, x, func(event messagesEvent) error { return m.take(event, a) })
}

// take adds one event to the answer, except thinking and other blocks.
func (m *anthropicMessages) take(event messagesEvent, a *answer) error {
	switch event.Type {
	case "message_start":
		a.model = event.Message.Model
		a.use(event.Message.Usage)
	case "content_block_start":
		if event.ContentBlock.Type == "text" {
			return a.say(event.ContentBlock.Text)
		}
	case "content_block_delta":
		if event.Delta.Type == "text_delta" {
			return a.say(event.Delta.Text)
		}
	case "message_delta":
		a.finish = event.Delta.StopReason
		// Counts are cumulative; not every server repeats the input counts.
		if event.Usage.InputTokens > 0 {
			a.use(event.Usage)
		}
		a.output = event.Usage.OutputTokens
	}
	return nil
}

// use sets the counts, with cached tokens added to the input, as other providers report it.
func (a *answer) use(u messagesUsage) {
	a.cacheRead, a.cacheWrite = u.CacheReadInputTokens, u.CacheCreationInputTokens
	a.input, a.output = u.InputTokens+a.cacheRead+a.cacheWrite, u.OutputTokens
}

// adapt changes nothing: the API has only one form of request.
func (m *anthropicMessages) adapt(*Error) bool { return false }
