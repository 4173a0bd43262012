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
	reserved int // calls begun
	spent    outcome.Spent
	failed   error // the last error of the model
}

// generate lowers the output limit to what is left of the budget.
func (b *modelBudget) generate(
	ctx context.Context, req sdk.GenerateRequest, onText func(string),
) (sdk.Completion, error) {
	if b.llm == nil {
		return sdk.Completion{}, fmt.Errorf("%w: the strategy did not declare that it needs a model",
			sdk.ErrNotGranted)
	}
	left, err := b.reserve()
	if err != nil {
		return sdk.Completion{}, err
	}
	// Without a limit in the request, the model's own applies, unless less than that is left.
	if req.MaxOutputTokens > left || req.MaxOutputTokens <= 0 && left < b.llm.Model.MaxOutput {
		req.MaxOutputTokens = left
	}
	start := time.Now()
	completion, spent, err := b.llm.Generate(ctx, req, onText)
	spent.Calls, spent.Time = 1, time.Since(start)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent.Add(spent) // a failed call may have cost something too
	if err != nil {
		// Kept even if the strategy continues without the model: the outcome should say why its summary is missing.
		b.failed = err
		return sdk.Completion{}, err
	}
	return completion, nil
}

// reserve takes one call from the budget and returns how many tokens are left. Concurrent calls may exceed the token
// limit together, because their cost is known only at their end.
func (b *modelBudget) reserve() (tokens int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	// Failed calls count too: a provider that is down is not asked for ever.
	if b.reserved >= b.llm.MaxCalls {
		return 0, fmt.Errorf("%w: this compression made %d model calls, which is the most",
			sdk.ErrBudgetSpent, b.reserved)
	}
	spent := b.spent.InputTokens + b.spent.OutputTokens
	left := b.llm.MaxTokens - spent
	if left <= 0 {
		return 0, fmt.Errorf("%w: this compression spent %d tokens (compression.llm.maxTokens)",
			sdk.ErrBudgetSpent, spent)
	}
	b.reserved++
	return left, nil
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
