package prepare

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
)

// modelBudget runs the model calls of one Compress and keeps them within their limits: no strategy can spend more,
// however often it fails. A strategy may call concurrently. The zero value allows no call.
type modelBudget struct {
	llm *LLM // nil: the strategy may not call a model

	mu       sync.Mutex
	begun    int // calls
	reserved int // tokens that calls in progress may take
	spent    outcome.Spent
	failed   error // the last error of the model
}

// generate lowers the output limit to what is left of the budget. prompt is the size of the request in tokens.
func (b *modelBudget) generate(
	ctx context.Context, req sdk.GenerateRequest, prompt int, onText func(string),
) (sdk.Completion, error) {
	if b.llm == nil {
		return sdk.Completion{}, fmt.Errorf("%w: the strategy did not declare that it needs a model",
			sdk.ErrNotGranted)
	}
	most := b.llm.Model.MaxOutput
	if wanted := req.MaxOutputTokens; wanted > 0 && (most <= 0 || wanted < most) {
		most = wanted
	}
	most, err := b.reserve(prompt, most)
	if err != nil {
		return sdk.Completion{}, err
	}
	req.MaxOutputTokens = most
	start := time.Now()
	completion, spent, err := b.llm.Generate(ctx, req, onText)
	spent.Calls, spent.Time = 1, time.Since(start)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= prompt + most
	b.spent.Add(spent) // a failed call may have cost something too
	if err != nil {
		// Kept even if the strategy continues without the model: the outcome should say why its summary is missing.
		b.failed = err
		return sdk.Completion{}, err
	}
	return completion, nil
}

// reserve takes one call from the budget, with an answer of at most output tokens or what is left, which it returns.
// The prompt of a call may exceed what is left, but no call begins once nothing is.
func (b *modelBudget) reserve(prompt, output int) (most int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	// Failed calls count too: a provider that is down is not asked for ever.
	if b.begun >= b.llm.MaxCalls {
		return 0, fmt.Errorf("%w: this compression made %d model calls, which is the most", sdk.ErrBudgetSpent, b.begun)
	}
	spent := b.spent.InputTokens + b.spent.OutputTokens + b.reserved
	left := b.llm.MaxTokens - spent
	if left <= 0 {
		return 0, fmt.Errorf("%w: this compression spent %d tokens (compression.llm.maxTokens)",
			sdk.ErrBudgetSpent, spent)
	}
	if most = left; output > 0 {
		most = min(output, left)
	}
	b.begun++
	b.reserved += prompt + most
	return most, nil
}

// account returns what was spent, nil if no call was made, and the last error of the model. Call it after the Compress.
func (b *modelBudget) account() (*outcome.Spent, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spent.Calls == 0 {
		return nil, b.failed
	}
	spent := b.spent
	spent.Profile = b.llm.Profile
	return &spent, b.failed
}
