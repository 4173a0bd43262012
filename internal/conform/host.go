package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk"
)

// Host is the services that a strategy can call in a Compress. It works at once and without delay; the unexported
// fields make it slow, wrong or broken. Set all fields before use: methods run concurrently.
type Host struct {
	Info  sdk.Info // a strategy that does not require a model may not call one
	Model sdk.Model
	// Count counts the tokens of a run of entries.
	Count func([]sdk.Content) int
	// Answer is what the model answers, and Prompt what a prompt says.
	Answer func(context.Context, sdk.GenerateRequest) (sdk.Completion, error)
	Prompt func(name string) (string, error)
	// Hold, if not nil, blocks every model call until it is closed or the call is cancelled. Reached gets one element, if
	// it has room, whenever a call starts to wait.
	Hold, Reached chan struct{}
	faults

	// Counts of requests, read while the strategy is still running: all, those to the model, and of those, the ones that
	// the strategy waits for.
	Requests, Generations, Open atomic.Int64
	failures                    atomic.Int64

	mu    sync.Mutex
	asked []sdk.GenerateRequest
	over  []*check.Error // requests that the model's window has no room for
}

// faults are what can be wrong with a host.
type faults struct {
	delay  time.Duration // before each answer, and between the pieces of a generated text
	prompt string        // "": as Prompt says
	text   string        // what the model answers; "": as Answer says
	extra  int           // tokens added to every count; makes counts absurd but consistent

	// Returned by the three services instead of an answer; nil: the service works.
	estimateErr, generateErr, promptErr error
	// breakOff makes a model call fail with generateErr after two lines of the answer, as a broken stream does.
	breakOff bool
}

var _ sdk.Host = (*Host)(nil)

// Asked are the requests to the model, in their order.
func (h *Host) Asked() []sdk.GenerateRequest {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

// Beyond are those that the model's window has no room for.
func (h *Host) Beyond() []*check.Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.over)
}

func (h *Host) failed(err error) error {
	h.failures.Add(1)
	return err
}

// EstimateTokens counts entry by entry, as a host does.
func (h *Host) EstimateTokens(ctx context.Context, entries []sdk.Content) ([]int, error) {
	h.Requests.Add(1)
	if err := pause(ctx, h.delay); err != nil {
		return nil, err
	}
	if h.estimateErr != nil {
		return nil, h.failed(h.estimateErr)
	}
	counts := make([]int, len(entries))
	for i := range entries {
		counts[i] = h.Count(entries[i:i+1]) + h.extra
	}
	return counts, nil
}

// Generate refuses what a host would refuse, and streams the answer line by line. An open call is counted in Open until
// the strategy cancels it or the answer is complete.
func (h *Host) Generate(ctx context.Context, req sdk.GenerateRequest, onText func(string)) (sdk.Completion, error) {
	h.Requests.Add(1)
	h.Generations.Add(1)
	// Before the wait: a call that was held and never cancelled is what the check on cancellation looks for.
	h.Open.Add(1)
	defer h.Open.Add(-1)
	if h.Hold != nil {
		note(h.Reached)
		select {
		case <-h.Hold:
		case <-ctx.Done():
			return sdk.Completion{}, ctx.Err()
		}
	}
	if err := ctx.Err(); err != nil {
		return sdk.Completion{}, err
	}
	if err := h.refuse(req); err != nil {
		return sdk.Completion{}, err
	}
	h.take(req)
	if h.generateErr != nil && !h.breakOff {
		return sdk.Completion{}, h.failed(h.generateErr)
	}
	answer, err := sdk.Completion{Text: h.text, FinishReason: "stop", Model: h.Model.Name}, error(nil)
	if h.text == "" {
		answer, err = h.Answer(ctx, req)
	}
	if err != nil {
		return answer, err
	}
	sent := 0
	for line := range strings.Lines(answer.Text) {
		// Also with no delay, so a cancelled call ends here as it would with a real model.
		if err := pause(ctx, h.delay); err != nil {
			return sdk.Completion{}, err
		}
		if onText != nil {
			onText(line)
		}
		if sent++; h.breakOff && sent == 2 {
			return sdk.Completion{}, h.failed(h.generateErr)
		}
	}
	return answer, nil
}

// take remembers a request, also one that fails: a test may be about them.
func (h *Host) take(req sdk.GenerateRequest) {
	asked := append(slices.Clip(req.Entries), sdk.Content{Blocks: []sdk.Block{sdk.Text{Text: req.System}}})
	e := Window(h.Count(asked), req, h.Model)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.asked = append(h.asked, req); e != nil {
		h.over = append(h.over, e)
	}
}

// refuse says what a host or a provider would: a model that gets tool blocks without declared tools answers with an
// error.
func (h *Host) refuse(req sdk.GenerateRequest) error {
	if !h.Info.RequiresLLM {
		return errors.New("the strategy calls Host.Generate, but its Info.RequiresLLM is false")
	}
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

func (h *Host) ResolvePrompt(ctx context.Context, name string) (string, error) {
	h.Requests.Add(1)
	if err := pause(ctx, h.delay); err != nil {
		return "", err
	}
	switch {
	case h.promptErr != nil:
		return "", h.failed(h.promptErr)
	case h.prompt != "":
		return h.prompt, nil
	}
	return h.Prompt(name)
}

// pause waits for d or until ctx is done, and returns ctx's error in the latter case, also for d = 0.
func pause(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// note sends to c unless it is full (or nil): the sender must not block, and one pending note is enough.
func note(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
