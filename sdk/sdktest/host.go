package sdktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/sdk"
)

// GenerateFunc answers one request of a strategy to the model.
type GenerateFunc func(ctx context.Context, req sdk.GenerateRequest) (sdk.Completion, error)

// Answers returns a model that gives these answers, one a request, and fails when it has none left.
func Answers(texts ...string) GenerateFunc {
	var mu sync.Mutex
	next := 0
	return func(context.Context, sdk.GenerateRequest) (sdk.Completion, error) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(texts) {
			return sdk.Completion{}, fmt.Errorf("sdktest: request %d to the model, but only %d answers were given",
				next+1,
				len(texts))
		}
		next++
		return sdk.Completion{Text: texts[next-1], FinishReason: "stop", Model: "sdktest"}, nil
	}
}

// fakeHost is the host that a strategy under test meets in Compress. mu guards requests: a strategy may call the model
// from several goroutines.
type fakeHost struct {
	info   sdk.Info
	config Config

	mu       sync.Mutex
	requests []sdk.GenerateRequest
	failed   bool           // whether a service failed as Config.failing says
	over     []*check.Error // those that the model's window has no room for
}

// fails returns the error of a service that is to fail.
func (h *fakeHost) fails(service string) error {
	if h.config.failing != service {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = true
	return fmt.Errorf("%w: sdktest: it is there to fail", sdk.ErrUnavailable)
}

// EstimateTokens counts with the test's counter, entry by entry as a host does.
func (h *fakeHost) EstimateTokens(ctx context.Context, entries []sdk.Content) ([]int, error) {
	if err := cmp.Or(ctx.Err(), h.fails("EstimateTokens")); err != nil {
		return nil, err
	}
	count := h.config.counter()
	counts := make([]int, len(entries))
	for i := range entries {
		counts[i] = count(entries[i : i+1])
	}
	return counts, nil
}

// Generate hands the request to the test's model, and refuses what a host would refuse.
func (h *fakeHost) Generate(ctx context.Context, req sdk.GenerateRequest, onText func(string)) (sdk.Completion, error) {
	if err := ctx.Err(); err != nil {
		return sdk.Completion{}, err
	}
	if !h.info.RequiresLLM {
		return sdk.Completion{}, errors.New("the strategy calls Host.Generate, but its Info.RequiresLLM is false")
	}
	if err := checkRequest(req); err != nil {
		return sdk.Completion{}, err
	}
	h.mu.Lock()
	// Also those that fail, as a test may be about them.
	h.requests = append(h.requests, req)
	asked := append(slices.Clip(req.Entries), sdk.Content{Blocks: []sdk.Block{sdk.Text{Text: req.System}}})
	if e := conform.Window(h.config.counter()(asked), req, *h.config.model(h.info)); e != nil {
		h.over = append(h.over, e)
	}
	h.mu.Unlock()
	if err := h.fails("Generate"); err != nil {
		return sdk.Completion{}, err
	}
	if h.config.Generate == nil {
		return sdk.Completion{}, errors.New("sdktest: the strategy calls Host.Generate, " +
			"but Config.Generate is nil; see Answers")
	}
	answer, err := h.config.Generate(ctx, req)
	// In one piece; a real model streams many.
	if err == nil && onText != nil && answer.Text != "" {
		onText(answer.Text)
	}
	return answer, err
}

func (h *fakeHost) ResolvePrompt(_ context.Context, name string) (string, error) {
	if err := h.fails("ResolvePrompt"); err != nil {
		return "", err
	}
	if prompt, ok := h.config.Prompts[name]; ok {
		return prompt, nil
	}
	return "", fmt.Errorf("sdktest: there is no prompt %q in Config.Prompts", name)
}

// checkRequest refuses what a provider would: a model that gets tool blocks without declared tools answers with an
// error.
func checkRequest(req sdk.GenerateRequest) error {
	if len(req.Entries) == 0 {
		return errors.New("GenerateRequest.Entries is empty: a model needs at least one")
	}
	for i, e := range req.Entries {
		if e.Speaker != sdk.Human && e.Speaker != sdk.AI {
			return fmt.Errorf("GenerateRequest.Entries[%d] is from %q: only human and ai can speak to a model", i,
				e.Speaker)
		}
		bad := slices.IndexFunc(e.Blocks, func(b sdk.Block) bool { _, ok := b.(sdk.Text); return !ok })
		if bad >= 0 {
			return fmt.Errorf("GenerateRequest.Entries[%d].Blocks[%d] is %T: only text can be sent, flatten it first",
				i, bad,
				e.Blocks[bad])
		}
	}
	return nil
}
