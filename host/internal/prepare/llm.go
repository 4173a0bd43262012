package prepare

import (
	"context"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/failure"
	"github.com/thresh-dev/thresh/sdk"
)

// ErrNoLLM is wrapped by the error for a strategy that needs a model if none is configured.
var ErrNoLLM = failure.New(failure.Setting, "no model can be used")

// LLM is the model that a strategy may call during one Compress, and its budget.
type LLM struct {
	Profile string
	Model   sdk.Model
	// MaxCalls and MaxTokens bound one Compress. MaxTokens is for requests and answers together.
	MaxCalls, MaxTokens int
	// Generate runs one completion. Its error wraps [sdk.ErrUnavailable] if a retry may help.
	Generate func(context.Context, sdk.GenerateRequest, func(text string)) (
		sdk.Completion, outcome.Spent, error)
}

func (l *LLM) model() *sdk.Model {
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
