package sdk

import (
	"context"
	"fmt"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/wire"
)

// boundHost is the Host of one Compress call.
type boundHost struct {
	conn *hostConn
	call context.Context // ends with the Compress call, and with it everything that was asked for it
	id   string
	// history holds what came with a count: that need not be asked for.
	history *history
}

// begin returns the client, and a context that ends with ctx or with the call, whichever is first.
func (h *boundHost) begin(ctx context.Context) (threshv1.HostServiceClient, context.Context, context.CancelFunc,
	error) {
	if h.call.Err() != nil {
		return nil, nil, nil, fmt.Errorf("%w: the Compress call that this Host belongs to is over", ErrNotGranted)
	}
	select {
	case <-h.conn.ready:
	case <-ctx.Done():
		return nil, nil, nil, ctx.Err()
	case <-h.call.Done():
		return nil, nil, nil, h.call.Err()
	}
	if h.conn.err != nil {
		return nil, nil, nil, h.conn.err
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(h.call, cancel)
	return h.conn.client, ctx, func() { stop(); cancel() }, nil
}

// EstimateTokens asks the host only for entries that did not come with a count: those that were changed or made.
func (h *boundHost) EstimateTokens(ctx context.Context, entries []Content) ([]int, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	client, ctx, done, err := h.begin(ctx)
	if err != nil {
		return nil, hostError("EstimateTokens", err)
	}
	defer done()
	counts := make([]int, len(entries))
	var fresh []Content
	var places []int
	for i, e := range entries {
		if at, ok := e.Origin(); ok && h.history != nil && at < len(h.history.was) && e.Equal(h.history.was[at]) {
			counts[i] = h.history.tokens(at, at+1)
			continue
		}
		fresh, places = append(fresh, e), append(places, i)
	}
	if len(fresh) == 0 {
		return counts, nil
	}
	counted, err := wire.EstimateTokens(ctx, client, h.id, fresh)
	if err != nil {
		return nil, hostError("EstimateTokens", err)
	}
	for i, at := range places {
		counts[at] = counted[i]
	}
	return counts, nil
}

// Generate asks the host's model. onText gets the text as it arrives; the completion has all of it.
func (h *boundHost) Generate(ctx context.Context, req GenerateRequest, onText func(string)) (Completion, error) {
	client, ctx, done, err := h.begin(ctx)
	if err != nil {
		return Completion{}, hostError("Generate", err)
	}
	defer done()
	c, err := wire.Generate(ctx, client, h.id, req, onText)
	return c, hostError("Generate", err)
}

// ResolvePrompt asks the host. Prompts may change between calls, so nothing is remembered.
func (h *boundHost) ResolvePrompt(ctx context.Context, name string) (string, error) {
	client, ctx, done, err := h.begin(ctx)
	if err != nil {
		return "", hostError("ResolvePrompt", err)
	}
	defer done()
	text, err := wire.ResolvePrompt(ctx, client, h.id, name)
	return text, hostError("ResolvePrompt", err)
}

// hostError says which request failed, and makes the meaning of a status visible to errors.Is.
func hostError(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, wire.FromStatus(err))
}
