package llm_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/llm"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-test/SECRET+key"

var kinds = []string{config.KindOpenAI, config.KindAnthropic}

// bench is a client and the server that it asks.
type bench struct {
	*llm.Client
	server *modelapi.Server
	mu     sync.Mutex
	// waits are those between attempts; they take no time.
	waits []time.Duration
}

// setUp starts a server and a client for it, whose profile may be changed.
func setUp(t *testing.T, kind string, o modelapi.Options, change func(*llm.Profile)) *bench {
	t.Helper()
	b := &bench{server: modelapi.Start(t, o)}
	p := llm.Profile{Name: "p", Provider: config.Provider{Kind: kind, Model: "m", BaseURL: b.server.URL,
		KeyEnv:       "THE_KEY",
		ContextLimit: 100_000, MaxOutput: 1000, Timeout: time.Minute, IdleTimeout: 30 * time.Second, Retries: 3}}
	if change != nil {
		change(&p)
	}
	client, err := llm.Open(p, llm.Options{LookupEnv: func(string) (string, bool) { return secret, true }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	client.SetSleep(func(ctx context.Context, d time.Duration) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.waits = append(b.waits, d)
		return ctx.Err()
	})
	b.Client = client
	return b
}

func (b *bench) ask(t *testing.T) (llm.Result, error) {
	t.Helper()
	return b.Generate(t.Context(), question(), nil)
}

func question() llm.Request {
	return llm.Request{System: "Be brief.", Messages: []llm.Message{{Role: llm.User, Text: "Say something."}}}
}

// failed returns the error as what it must be.
func failed(t *testing.T, err error) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("no *llm.Error: %v", err)
	}
	return e
}
