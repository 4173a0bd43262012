package window

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/prompts"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// generate runs one model call of a strategy. It returns the cost after an error too.
func generate(
	ctx context.Context, client *llm.Client, book llm.Book, req sdk.GenerateRequest, onText func(string),
) (sdk.Completion, outcome.Spent, error) {
	// Refused here and not by the provider: the author learns which entry it is, and no request is paid for.
	messages, err := textOnly(req.Entries)
	if err != nil {
		return sdk.Completion{}, outcome.Spent{}, err
	}
	r, err := client.Generate(ctx, llm.Request{System: req.System, Messages: messages, MaxOutput: req.MaxOutputTokens,
		Book: book}, onText)
	spent := outcome.Spent{
		Attempts: r.Attempts, InputTokens: r.InputTokens, OutputTokens: r.OutputTokens,
		CacheReadTokens: r.CacheRead, CacheWriteTokens: r.CacheWrite, CostUSD: r.CostUSD, Model: r.Model,
	}
	if err != nil {
		var e *llm.Error
		if errors.As(err, &e) {
			spent.Attempts = e.Attempts
			if e.Retryable {
				err = fmt.Errorf("%w: %w", sdk.ErrUnavailable, err)
			}
		}
		return sdk.Completion{}, spent, err
	}
	return sdk.Completion{Text: r.Text, FinishReason: r.FinishReason, InputTokens: r.InputTokens,
		OutputTokens: r.OutputTokens, Model: r.Model}, spent, nil
}

func prompt(
	set config.Settings, strategy string, model *prepare.LLM,
) func(context.Context, string) (string, error) {
	// The files are read when the strategy asks, so an edited prompt applies from the next Compress.
	resolver, name := prompts.Resolver{Dir: set.Prompts.Dir}, ""
	if model != nil {
		name = model.Model.Name
	}
	return func(_ context.Context, what string) (string, error) {
		p, err := resolver.Resolve(what, strategy, name)
		return p.Text, err
	}
}

// textOnly turns entries into messages. Strategies must render tool calls and media as text, because providers refuse
// them outside of a full tool exchange.
func textOnly(entries []content.Content) ([]llm.Message, error) {
	messages := make([]llm.Message, len(entries))
	for i, c := range entries {
		m := llm.Message{Role: llm.User}
		switch c.Speaker {
		case content.Human:
		case content.AI:
			m.Role = llm.Assistant
		default:
			return nil, fmt.Errorf("entry %d of the request is from %q: only human and ai speak to a model", i,
				c.Speaker)
		}
		var texts []string
		for j, b := range c.Blocks {
			t, ok := b.(content.Text)
			if !ok {
				return nil, fmt.Errorf("entry %d, block %d of the request is a %s: only text goes to a model", i, j,
					b.Kind())
			}
			texts = append(texts, t.Text)
		}
		// One text per message, which every provider takes.
		m.Text = strings.Join(texts, "\n")
		messages[i] = m
	}
	return messages, nil
}
