package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/prompts"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// models are the clients of the profiles that were used, made when first needed. A profile's key is read then, once.
type models struct {
	mu      sync.Mutex
	clients map[string]*llm.Client // by the settings, as JSON: they hold no key
}

// client returns the client of a profile.
func (m *models) client(name string, p config.Provider) (*llm.Client, error) {
	profile := llm.Profile{Name: name, Provider: p}
	key, err := json.Marshal(profile)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.clients[string(key)]; c != nil {
		return c, nil
	}
	c, err := llm.Open(profile, llm.Options{})
	if err != nil {
		return nil, err
	}
	if m.clients == nil {
		m.clients = map[string]*llm.Client{}
	}
	m.clients[string(key)] = c
	return c, nil
}

func (m *models) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.clients {
		c.Close()
	}
	m.clients = nil
}

// Model returns the client of the profile that compression uses: compression.profile or, without it, the profile in force.
// The error wraps [prepare.ErrNoLLM] if there is none and says what to configure; it is an [*llm.Error] if the profile cannot
// be used.
func (h *Host) Model(c *config.Config) (*llm.Client, error) {
	set := c.Settings()
	name := set.Compression.Profile
	if name == "" {
		name = set.Profile
	}
	if name == "" {
		return nil, fmt.Errorf("%w: set compression.profile to a profile that has a provider (profiles.<name>.provider.kind, .model and .keyEnv)", prepare.ErrNoLLM)
	}
	p, ok := c.Provider(name)
	if !ok {
		return nil, fmt.Errorf("%w: the profile %s has no provider: set profiles.%s.provider.kind, .model and .keyEnv", prepare.ErrNoLLM, name, name)
	}
	return h.models.client(name, p)
}

// model returns what a strategy may use of the model, and how far.
func (h *Host) model(c *config.Config) (*prepare.LLM, error) {
	client, err := h.Model(c)
	if err != nil {
		return nil, err
	}
	p, budget := client.Profile(), c.Settings().Compression.LLM
	return &prepare.LLM{
		Profile: p.Name, Model: sdk.Model{Name: p.Model, ContextLimit: p.ContextLimit, MaxOutput: client.MaxOutput()},
		MaxCalls: budget.MaxCalls, MaxTokens: budget.MaxTokens,
		Generate: func(ctx context.Context, req sdk.GenerateRequest, onText func(string)) (sdk.Completion, outcome.Spent, error) {
			return generate(ctx, client, req, onText)
		},
	}, nil
}

func generate(ctx context.Context, client *llm.Client, req sdk.GenerateRequest, onText func(string)) (sdk.Completion, outcome.Spent, error) {
	messages, err := textOnly(req.Entries)
	if err != nil {
		return sdk.Completion{}, outcome.Spent{}, err
	}
	r, err := client.Generate(ctx, llm.Request{System: req.System, Messages: messages, MaxOutput: req.MaxOutputTokens}, onText)
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
	return sdk.Completion{Text: r.Text, FinishReason: r.FinishReason, InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, Model: r.Model}, spent, nil
}

// prompt finds the prompt in force for a strategy and its model.
func prompt(set config.Settings, strategy string, model *prepare.LLM) func(context.Context, string) (string, error) {
	resolver, name := prompts.Resolver{Dir: set.Prompts.Dir}, ""
	if model != nil {
		name = model.Model.Name
	}
	return func(_ context.Context, what string) (string, error) {
		p, err := resolver.Resolve(what, strategy, name)
		return p.Text, err
	}
}

// textOnly turns entries into messages. A strategy flattens tool calls and media itself: providers refuse them where they
// do not belong.
func textOnly(entries []content.Content) ([]llm.Message, error) {
	messages := make([]llm.Message, len(entries))
	for i, c := range entries {
		m := llm.Message{Role: llm.User}
		switch c.Speaker {
		case content.Human:
		case content.AI:
			m.Role = llm.Assistant
		default:
			return nil, fmt.Errorf("entry %d of the request is from %q: only human and ai speak to a model", i, c.Speaker)
		}
		var texts []string
		for j, b := range c.Blocks {
			t, ok := b.(content.Text)
			if !ok {
				return nil, fmt.Errorf("entry %d, block %d of the request is a %s: only text goes to a model", i, j, b.Kind())
			}
			texts = append(texts, t.Text)
		}
		m.Text = strings.Join(texts, "\n")
		messages[i] = m
	}
	return messages, nil
}
