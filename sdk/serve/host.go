package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"github.com/thresh-dev/thresh/sdk"
	"strings"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/wire"
)

// boundHost is the Host of one Compress call. It refuses requests after the call: a goroutine left behind cannot spend
// another call's budget. It is safe for concurrent use.
type boundHost struct {
	conn *hostConn
	call context.Context // ends with the Compress call, and with it every request
	id   string
	// history has the counts that came with the call; they need no request.
	history *history
}

// over returns an error if the call has ended.
func (h *boundHost) over() error {
	if h.call.Err() == nil {
		return nil
	}
	return fmt.Errorf("%w: the Compress call that this Host belongs to is over", sdk.ErrNotGranted)
}

// begin waits for the connection to the host. The returned context ends with ctx or with the call, whichever is first;
// call the returned function when the request is done.
func (h *boundHost) begin(ctx context.Context) (threshv1.HostServiceClient, context.Context, context.CancelFunc,
	error) {
	if err := h.over(); err != nil {
		return nil, nil, nil, err
	}
	select {
	case <-h.conn.ready:
	case <-ctx.Done():
		return nil, nil, nil, ctx.Err()
	case <-h.call.Done():
		return nil, nil, nil, h.call.Err()
	}
	if err := h.conn.failed(); err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(h.call, cancel)
	return h.conn.client, ctx, func() { stop(); cancel() }, nil
}

// EstimateTokens asks the host only about changed and new entries. The others came with their counts.
func (h *boundHost) EstimateTokens(ctx context.Context, entries []sdk.Content) ([]int, error) {
	counts := make([]int, len(entries))
	var fresh []sdk.Content
	var places []int
	for i, e := range entries {
		if at, ok := e.Origin(); ok && h.history != nil && at < len(h.history.entries) &&
			e.Equal(h.history.entries[at]) {
			counts[i] = h.history.tokens(at, at+1)
			continue
		}
		fresh, places = append(fresh, e), append(places, i)
	}
	if len(fresh) == 0 {
		return counts, hostError("EstimateTokens", cmp.Or(h.over(), ctx.Err()))
	}
	client, ctx, done, err := h.begin(ctx)
	if err != nil {
		return nil, hostError("EstimateTokens", err)
	}
	defer done()
	counted, err := wire.EstimateTokens(ctx, client, h.id, fresh)
	if err != nil {
		return nil, hostError("EstimateTokens", err)
	}
	for i, at := range places {
		counts[at] = counted[i]
	}
	return counts, nil
}

// Generate asks the host's model. onText gets the text as it arrives; the completion contains all of it. The host
// counts the request against the budget of this Compress; over it, the error is [ErrBudgetSpent].
func (h *boundHost) Generate(ctx context.Context, req sdk.GenerateRequest, onText func(string)) (sdk.Completion, error) {
	client, ctx, done, err := h.begin(ctx)
	if err != nil {
		return sdk.Completion{}, hostError("Generate", err)
	}
	defer done()
	c, err := wire.Generate(ctx, client, h.id, req, onText)
	return c, hostError("Generate", err)
}

// ResolvePrompt caches nothing: users may edit prompts between calls.
func (h *boundHost) ResolvePrompt(ctx context.Context, name string) (string, error) {
	client, ctx, done, err := h.begin(ctx)
	if err != nil {
		return "", hostError("ResolvePrompt", err)
	}
	defer done()
	text, err := wire.ResolvePrompt(ctx, client, h.id, name)
	return text, hostError("ResolvePrompt", err)
}

// hostError names the failed request, and makes the meaning of a gRPC status visible to errors.Is.
func hostError(what string, err error) error {
	if err == nil {
		return nil
	}
	err = wire.FromStatus(err)
	var remote *wire.RemoteError
	// What gRPC says about a socket means nothing to who reads the error.
	if errors.As(err, &remote) && strings.HasPrefix(remote.Message, "connection error: ") {
		remote.Message = "the host's socket for its services cannot be reached: was the temporary directory emptied?"
	}
	return fmt.Errorf("%s: %w", what, err)
}
