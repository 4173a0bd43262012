package client

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
)

// maxServiceBytes is the most that a plugin may send for one EstimateTokens or Generate.
const maxServiceBytes = 64 << 20

// hostServices is what one plugin process can ask of the host, during a call that the request names. mu guards calls.
type hostServices struct {
	threshv1.UnimplementedHostServiceServer

	bounds *bounds
	most   int64 // requests during one Compress
	mu     sync.Mutex
	calls  map[string]*serviceCall
}

// serviceCall is one Compress that is under way. All its requests share it, concurrently.
type serviceCall struct {
	ctx         context.Context // ends with the Compress
	host        sdk.Host
	mayGenerate bool

	requests atomic.Int64
}

func newHostServices(most int, b *bounds) *hostServices {
	return &hostServices{bounds: b, most: int64(most), calls: make(map[string]*serviceCall)}
}

// open admits requests for the call until closeCall. The call's context cancels running ones.
func (h *hostServices) open(id string, call *serviceCall) (closeCall func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls[id] = call
	end := h.bounds.begin()
	return func() {
		end()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.calls, id)
	}
}

// enter counts the request and returns the call, and a context that ends with the request or with the call. The errors
// are [sdk.ErrNotGranted] for an unknown call or a host without services, and [sdk.ErrBudgetSpent] for too
// many requests: a plugin in a loop must not keep the host busy.
func (h *hostServices) enter(
	ctx context.Context, id string,
) (*serviceCall, context.Context, context.CancelFunc, error) {
	h.mu.Lock()
	call, ok := h.calls[id]
	h.mu.Unlock()
	if !ok {
		return nil, nil, nil, fmt.Errorf(
			"%w: no Compress with call_id %q is going on; host services exist during a Compress only",
			sdk.ErrNotGranted, text.Printable(id, 100),
		)
	}
	if call.host == nil {
		return nil, nil, nil, fmt.Errorf("%w: this host offers no services", sdk.ErrNotGranted)
	}
	if call.requests.Add(1) > h.most {
		return nil, nil, nil, fmt.Errorf(
			"%w: one Compress may ask the host %d times", sdk.ErrBudgetSpent, h.most,
		)
	}
	h.bounds.admitted()
	// Without it, a request would continue after its Compress timed out.
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(call.ctx, cancel)
	return call, ctx, func() { stop(); cancel() }, nil
}

// EstimateTokens counts the tokens of entries. The errors of this and the other two are gRPC statuses; the SDK turns
// them back.
func (h *hostServices) EstimateTokens(stream wire.EstimateStream) error {
	return wire.ToStatus(h.estimate(stream))
}

func (h *hostServices) estimate(stream wire.EstimateStream) error {
	id, receive, err := wire.ReceiveEstimate(stream)
	if err != nil {
		return err
	}
	call, ctx, leave, err := h.enter(stream.Context(), id)
	if err != nil {
		return err
	}
	defer leave()
	taken := account{of: h.bounds}
	defer taken.close()
	// Only now are the entries read: a refused request costs no memory.
	entries, err := receive(taken.limits())
	if err != nil {
		return err
	}
	counts, err := call.host.EstimateTokens(ctx, entries)
	if err != nil {
		return err
	}
	return wire.SendEstimate(stream, counts)
}

func (h *hostServices) Generate(stream wire.GenerateStream) error {
	return wire.ToStatus(h.generate(stream))
}

func (h *hostServices) generate(stream wire.GenerateStream) error {
	id, receive, err := wire.ReceiveGenerate(stream)
	if err != nil {
		return err
	}
	call, ctx, leave, err := h.enter(stream.Context(), id)
	if err != nil {
		return err
	}
	defer leave()
	// What a plugin may spend is part of what a user agreed to by locking it.
	if !call.mayGenerate {
		return fmt.Errorf("%w: Generate is for strategies whose GetInfo says requires_llm", sdk.ErrNotGranted)
	}
	taken := account{of: h.bounds}
	defer taken.close()
	req, err := receive(taken.limits())
	if err != nil {
		return err
	}
	// A plugin that does not listen any more stops the completion, which costs money.
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	answer, err := call.host.Generate(ctx, req, func(text string) {
		if err := wire.SendText(stream, text); err != nil {
			abort(err)
		}
	})
	if err != nil {
		return err
	}
	return wire.SendCompletion(stream, answer)
}

func (h *hostServices) ResolvePrompt(
	ctx context.Context, req *threshv1.ResolvePromptRequest,
) (*threshv1.ResolvePromptResponse, error) {
	text, err := h.resolve(ctx, req.GetCallId(), req.GetName())
	if err != nil {
		return nil, wire.ToStatus(err)
	}
	return wire.ToPrompt(text), nil
}

func (h *hostServices) resolve(ctx context.Context, id, name string) (string, error) {
	call, ctx, leave, err := h.enter(ctx, id)
	if err != nil {
		return "", err
	}
	defer leave()
	// No account: a name is small, and the answer is the host's own text.
	return call.host.ResolvePrompt(ctx, name)
}
