package llmtest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/internal/testkit/llmtest"
)

// The host makes its requests itself. That this server speaks as the real ones do is shown by the providers' own
// libraries: they must understand its streams and its errors.

func TestAnthropicsLibraryUnderstandsTheServer(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Key: "k"})
	s.Script(llmtest.Reply{Text: "the answer is seven"})
	ask := func(key string) (string, error) {
		client := anthropic.NewClient(anthropicoption.WithBaseURL(s.BaseURL(config.KindAnthropic)),
			anthropicoption.WithAPIKey(key), anthropicoption.WithMaxRetries(0))
		stream := client.Messages.NewStreaming(t.Context(), anthropic.MessageNewParams{Model: "m", MaxTokens: 100,
			Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("what is it?"))}})
		defer stream.Close()
		var whole anthropic.Message
		for stream.Next() {
			if err := whole.Accumulate(stream.Current()); err != nil {
				return "", err
			}
		}
		if len(whole.Content) == 0 {
			return "", stream.Err()
		}
		return whole.Content[0].Text, stream.Err()
	}
	if text, err := ask("k"); err != nil || text != "the answer is seven" {
		t.Errorf("got %q, %v", text, err)
	}
	var refused *anthropic.Error
	if _, err := ask("wrong"); !errors.As(err, &refused) || refused.StatusCode != 401 {
		t.Errorf("got %v", err)
	}
}

func TestOpenAIsLibraryUnderstandsTheServer(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Key: "k"})
	s.Script(llmtest.Reply{Text: "the answer is seven"})
	ask := func(key string) (string, error) {
		client := openai.NewClient(openaioption.WithBaseURL(s.BaseURL(config.KindOpenAI)),
			openaioption.WithAPIKey(key), openaioption.WithMaxRetries(0))
		stream := client.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{Model: "m",
			Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("what is it?")}})
		defer stream.Close()
		var text strings.Builder
		for stream.Next() {
			for _, choice := range stream.Current().Choices {
				text.WriteString(choice.Delta.Content)
			}
		}
		return text.String(), stream.Err()
	}
	if text, err := ask("k"); err != nil || text != "the answer is seven" {
		t.Errorf("got %q, %v", text, err)
	}
	var refused *openai.Error
	if _, err := ask("wrong"); !errors.As(err, &refused) || refused.StatusCode != 401 {
		t.Errorf("got %v", err)
	}
}
