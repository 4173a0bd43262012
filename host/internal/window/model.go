package window

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
)

// models are the clients of the profiles in use. A client is made, and its API key read, when it is first needed. It
// lives as long as the host, so turns reuse its connections. The zero value is ready to use.
type models struct {
	log     hclog.Logger
	env     func(name string) (value string, ok bool) // nil: the process's
	mu      sync.Mutex
	clients map[string]*llm.Client // by the profile as JSON, which holds no API key
}

func (m *models) client(name string, p config.Provider) (*llm.Client, error) {
	profile := llm.Profile{Name: name, Provider: p}
	// By all its settings: two sessions' profiles of one name may differ.
	key, err := json.Marshal(profile)
	if err != nil {
		return nil, err
	}
	// Opening reads the API key; the lock keeps two turns from doing so at once.
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.clients[string(key)]; c != nil {
		return c, nil
	}
	c, err := llm.Open(profile, llm.Options{LookupEnv: m.env})
	if err != nil {
		return nil, err
	}
	if server := plainServer(p.BaseURL); server != "" {
		m.log.Warn("provider is reached without TLS: conversations and the key travel unencrypted", "profile", name,
			"server", server)
	}
	if m.clients == nil {
		m.clients = map[string]*llm.Client{}
	}
	m.clients[string(key)] = c
	return c, nil
}

// plainServer returns the host of an address that is reached over a network without TLS, or "".
func plainServer(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback() {
		return ""
	}
	return u.Host
}

func (m *models) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.clients {
		c.Close()
	}
	m.clients = nil
}

// Model returns the client of the profile that compression uses: compression.profile or, without it, the profile in
// force. Without a profile the error wraps [prepare.ErrNoLLM] and says what to configure; an unusable profile is an
// [*llm.Error]. No request is made.
func (h *Host) Model(c *config.Config) (*llm.Client, error) {
	set := c.Settings()
	name := set.Compression.Profile
	if name == "" {
		name = set.Profile
	}
	if name == "" {
		return nil, fmt.Errorf("%w: set compression.profile to a profile that has a provider "+
			"(profiles.<name>.provider.kind, .model and .keyEnv)",
			prepare.ErrNoLLM)
	}
	p, ok := c.Provider(name)
	if !ok {
		return nil, fmt.Errorf("%w: the profile %s has no provider: set profiles.%s.provider.kind, .model and .keyEnv",
			prepare.ErrNoLLM, name, name)
	}
	if !p.Prices.Known() {
		all, err := h.prices()
		if err != nil {
			return nil, err
		}
		if l := all.ForModel(p.Model); l != nil {
			p.Prices = config.Prices{Input: &l.Input, Output: &l.Output, CacheRead: new(l.Read()),
				CacheWrite: new(l.Write())}
		}
	}
	return h.models.client(name, p)
}

const (
	// maxModelCalls bounds the model calls of one compression, also those of a faulty plugin.
	maxModelCalls = 32
	// cooldown is how long a model is not called again after an error that a retry cannot help: long enough that a
	// wrong key does not cost each turn a call, short enough that a corrected one is noticed.
	cooldown = time.Minute
)

// model returns the model that a strategy may call, with the budget of the session's settings. Sessions may share its
// client. Every model call of a session is made, and paid for by the session's owner, in its Generate.
func (h *Host) model(c *config.Config, owner string) (*prepare.LLM, error) {
	client, err := h.Model(c)
	if err != nil {
		return nil, err
	}
	p := client.Profile()
	var book llm.Book
	if h.book != nil {
		book = func(ctx context.Context, usd float64) (func(float64), error) { return h.book(ctx, owner, usd) }
	}
	return &prepare.LLM{
		Profile: p.Name, Model: sdk.Model{Name: p.Model, ContextLimit: p.ContextLimit,
			MaxOutput: client.MaxOutput()},
		MaxCalls: maxModelCalls, MaxTokens: c.Settings().Compression.LLM.MaxTokens,
		Generate: func(ctx context.Context, req sdk.GenerateRequest, onText func(string)) (sdk.Completion,
			outcome.Spent, error) {
			return generate(ctx, client, book, req, onText)
		},
	}, nil
}
