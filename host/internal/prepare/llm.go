package prepare

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// ErrNoLLM is wrapped by the error of a strategy that needs a model where none can be used. It says what to configure.
var ErrNoLLM = errors.New("no model can be used")

// LLM is the model that a strategy may call during one Compress, and what it may spend.
type LLM struct {
	// Profile is the configuration's name for it.
	Profile string
	Model   contract.Model
	// MaxCalls and MaxTokens bound one Compress; tokens are those of requests and answers together.
	MaxCalls, MaxTokens int
	// Generate runs one completion. Its error wraps [contract.ErrUnavailable] if a retry can help.
	Generate func(ctx context.Context, req contract.GenerateRequest, onText func(string)) (contract.Completion, outcome.Spent, error)
}

func (l *LLM) model() *contract.Model {
	if l == nil {
		return nil
	}
	return &l.Model
}

func (l *LLM) profile() string {
	if l == nil {
		return ""
	}
	return l.Profile
}

// purse is the model together with what is left of its budget.
type purse struct {
	llm *LLM

	mu       sync.Mutex
	reserved int // calls begun
	spent    outcome.Spent
	failed   error // the last error of the model
}

// generate runs one completion within the budget.
func (p *purse) generate(ctx context.Context, req contract.GenerateRequest, onText func(string)) (contract.Completion, error) {
	if p.llm == nil {
		return contract.Completion{}, fmt.Errorf("%w: the strategy did not declare that it needs a model", contract.ErrNotGranted)
	}
	left, err := p.reserve()
	if err != nil {
		return contract.Completion{}, err
	}
	if req.MaxOutputTokens <= 0 || req.MaxOutputTokens > left {
		if req.MaxOutputTokens > 0 || left < p.llm.Model.MaxOutput {
			req.MaxOutputTokens = left
		}
	}
	start := time.Now()
	g, spent, err := p.llm.Generate(ctx, req, onText)
	spent.Calls, spent.Time = 1, time.Since(start)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent.Add(spent)
	if err != nil {
		p.failed = err
		return contract.Completion{}, err
	}
	return g, nil
}

// reserve takes one call out of the budget and returns how many tokens are left.
func (p *purse) reserve() (tokens int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reserved >= p.llm.MaxCalls {
		return 0, fmt.Errorf("%w: this compression made %d model calls (compression.llm.maxCalls)", contract.ErrBudgetSpent, p.reserved)
	}
	left := p.llm.MaxTokens - p.spent.InputTokens - p.spent.OutputTokens
	if left <= 0 {
		return 0, fmt.Errorf("%w: this compression spent %d tokens (compression.llm.maxTokens)", contract.ErrBudgetSpent, p.spent.InputTokens+p.spent.OutputTokens)
	}
	p.reserved++
	return left, nil
}

// account returns what was spent, nil if no call was made, and the last error of the model.
func (p *purse) account() (*outcome.Spent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spent.Calls == 0 {
		return nil, p.failed
	}
	spent := p.spent
	spent.Profile = p.llm.Profile
	return &spent, p.failed
}

// CompressError says that a Compress failed. The history is untouched, and no other strategy was tried (REQ-HD-013.4).
type CompressError struct {
	Strategy string
	// Profile is the profile whose model was called; "" if none was.
	Profile string
	// Retryable says that the same Compress may succeed if it is tried again.
	Retryable bool
	// Model is what the model's provider said, nil if it is not its fault.
	Model error
	Err   error
}

func (e *CompressError) Error() string {
	text := "compress with " + e.Strategy
	if e.Profile != "" {
		text += " (profile " + e.Profile + ")"
	}
	text += ": " + e.Err.Error()
	if e.Model != nil && !strings.Contains(text, e.Model.Error()) { // a strategy mostly passes on what it was told
		text += "; the model call failed: " + e.Model.Error()
	}
	switch {
	case e.Retryable:
		return text + "; a retry may help"
	case errors.Is(e.Err, context.Canceled):
		return text
	default:
		return text + "; a retry without a change will not help"
	}
}

// Unwrap returns the strategy's error and the model's.
func (e *CompressError) Unwrap() []error {
	if e.Model == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Model}
}
