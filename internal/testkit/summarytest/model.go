package summarytest

import (
	"context"
	"fmt"
	"sync"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

// Limited is a model that rejects a request which does not fit its context window, counted as four bytes per token
// and including the answer, as providers do. It is safe for concurrent use.
type Limited struct {
	// Window is the size of the context window, in tokens.
	Window int
	// Answer returns the text for the n-th request, from 1. If nil, every answer is [Snapshot].
	Answer func(n int, req sdk.GenerateRequest) string

	// mu guards calls, and makes Answer run one at a time.
	mu    sync.Mutex
	calls int
}

// Calls returns how many requests were made, including refused ones.
func (m *Limited) Calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// Generate implements [sdktest.GenerateFunc].
func (m *Limited) Generate(_ context.Context, req sdk.GenerateRequest) (sdk.Completion, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	// Rough, but on the same side as the host's own estimate.
	tokens := (len(req.System) + len(Texts(req.Entries))) / 4
	if tokens+req.MaxOutputTokens > m.Window {
		return sdk.Completion{}, fmt.Errorf("the request has %d tokens and asks for %d, the window is %d", tokens,
			req.MaxOutputTokens, m.Window)
	}
	text := Snapshot
	if m.Answer != nil {
		text = m.Answer(m.calls, req)
	}
	return sdk.Completion{Text: text, FinishReason: "stop", Model: "m"}, nil
}

// Instant is a host whose model and tokenizer take no time, for benchmarks.
type Instant struct{}

var _ sdk.Host = Instant{}

// EstimateTokens counts with [sdktest.Characters].
func (Instant) EstimateTokens(_ context.Context, entries []sdk.Content) ([]int, error) {
	counts := make([]int, len(entries))
	for i := range entries {
		counts[i] = sdktest.Characters(entries[i : i+1])
	}
	return counts, nil
}

// Generate answers with [Snapshot].
func (Instant) Generate(context.Context, sdk.GenerateRequest, func(string)) (sdk.Completion, error) {
	return sdk.Completion{Text: Snapshot}, nil
}

// ResolvePrompt returns the same text for every name.
func (Instant) ResolvePrompt(context.Context, string) (string, error) { return prompt, nil }
