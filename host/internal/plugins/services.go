package plugins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"google.golang.org/grpc"

	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/contract"
)

const (
	// maxServiceBytes is the most that a plugin may send for one EstimateTokens or Generate, in bytes.
	maxServiceBytes = 64 << 20
	// maxDelta is the most text that one message to a plugin carries, in bytes.
	maxDelta = wire.MaxChunk / 2
)

// hostServices is what one plugin process can ask of the host. It answers only for calls that are going on: each request
// names one, and ends with it.
type hostServices struct {
	threshv1.UnimplementedHostServiceServer

	most  int64 // requests during one Compress
	mu    sync.Mutex
	calls map[string]*serviceCall
}

// serviceCall is one Compress that is going on.
type serviceCall struct {
	ctx  context.Context // ends with the Compress
	host sdk.Host
	// mayGenerate is whether the strategy declared that it needs an LLM.
	mayGenerate bool

	requests atomic.Int64 // so far
}

// newHostServices allows most requests during one Compress.
func newHostServices(most int) *hostServices {
	return &hostServices{most: int64(most), calls: make(map[string]*serviceCall)}
}

// open lets requests for the call in until the returned function is called.
func (h *hostServices) open(id string, call *serviceCall) (closeCall func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls[id] = call
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.calls, id)
	}
}

// enter returns the call, and a context that ends with the request and with the call.
func (h *hostServices) enter(ctx context.Context, id string) (*serviceCall, context.Context, context.CancelFunc, error) {
	h.mu.Lock()
	call, ok := h.calls[id]
	h.mu.Unlock()
	if !ok {
		return nil, nil, nil, wire.ToStatus(fmt.Errorf("%w: no Compress with call_id %q is going on; host services exist during a Compress only",
			contract.ErrNotGranted, printable(id, 100)))
	}
	if call.host == nil {
		return nil, nil, nil, wire.ToStatus(fmt.Errorf("%w: this host offers no services", contract.ErrNotGranted))
	}
	if call.requests.Add(1) > h.most {
		return nil, nil, nil, wire.ToStatus(fmt.Errorf("%w: one Compress may ask the host %d times (plugins.maxHostCalls)", contract.ErrBudgetSpent, h.most))
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(call.ctx, cancel)
	return call, ctx, func() { stop(); cancel() }, nil
}

// EstimateTokens counts entries.
func (h *hostServices) EstimateTokens(stream grpc.ClientStreamingServer[threshv1.EstimateTokensRequest, threshv1.EstimateTokensResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return firstMissing(err)
	}
	call, ctx, leave, err := h.enter(stream.Context(), first.GetCallId())
	if err != nil {
		return err
	}
	defer leave()
	next := func() ([]byte, error) {
		if first != nil {
			chunk := first.GetChunk()
			first = nil
			return chunk, nil
		}
		m, err := stream.Recv()
		return m.GetChunk(), err
	}
	entries, err := wire.ReadAll(next, requestLimits, wire.DecodeContent)
	if err != nil {
		return wire.ToStatus(err)
	}
	counts, err := call.host.EstimateTokens(ctx, entries)
	if err != nil {
		return wire.ToStatus(err)
	}
	resp := &threshv1.EstimateTokensResponse{Tokens: make([]int64, len(counts))}
	for i, n := range counts {
		resp.Tokens[i] = int64(n)
	}
	return stream.SendAndClose(resp)
}

// Generate runs one completion and passes its text on as it arrives.
func (h *hostServices) Generate(stream grpc.BidiStreamingServer[threshv1.GenerateRequest, threshv1.GenerateResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return firstMissing(err)
	}
	header := first.GetHeader()
	call, ctx, leave, err := h.enter(stream.Context(), header.GetCallId())
	if err != nil {
		return err
	}
	defer leave()
	if !call.mayGenerate {
		return wire.ToStatus(fmt.Errorf("%w: Generate is for strategies whose GetInfo says requires_llm", contract.ErrNotGranted))
	}
	entries, err := wire.ReadAll(func() ([]byte, error) {
		m, err := stream.Recv()
		return m.GetChunk(), err
	}, requestLimits, wire.DecodeContent)
	if err != nil {
		return wire.ToStatus(err)
	}
	// When the plugin does not listen any more, the completion is stopped rather than paid for.
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	answer, err := call.host.Generate(ctx, sdk.GenerateRequest{
		System:          header.GetSystem(),
		Entries:         entries,
		MaxOutputTokens: int(max(0, header.GetMaxOutputTokens())),
	}, func(text string) {
		if err := sendText(stream, text); err != nil {
			abort(err)
		}
	})
	if err != nil {
		return wire.ToStatus(err)
	}
	return stream.Send(&threshv1.GenerateResponse{Part: &threshv1.GenerateResponse_End{End: &threshv1.GenerateEnd{
		FinishReason: validUTF8(answer.FinishReason),
		InputTokens:  int64(answer.InputTokens),
		OutputTokens: int64(answer.OutputTokens),
		Model:        validUTF8(answer.Model),
	}}})
}

// ResolvePrompt returns the prompt in force.
func (h *hostServices) ResolvePrompt(ctx context.Context, req *threshv1.ResolvePromptRequest) (*threshv1.ResolvePromptResponse, error) {
	call, ctx, leave, err := h.enter(ctx, req.GetCallId())
	if err != nil {
		return nil, err
	}
	defer leave()
	text, err := call.host.ResolvePrompt(ctx, req.GetName())
	if err != nil {
		return nil, wire.ToStatus(err)
	}
	return &threshv1.ResolvePromptResponse{Text: validUTF8(text)}, nil
}

var requestLimits = wire.Limits{Of: "entry", Count: wire.UntilEnd, Message: maxServiceBytes, Total: maxServiceBytes}

func firstMissing(err error) error {
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: the stream ended before the message that names the call", wire.ErrProtocol)
	}
	return wire.ToStatus(err)
}

// sendText sends text in messages of a bounded size, cut between characters.
func sendText(stream grpc.ServerStreamingServer[threshv1.GenerateResponse], text string) error {
	for text = validUTF8(text); text != ""; {
		n := min(len(text), maxDelta)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		if err := stream.Send(&threshv1.GenerateResponse{Part: &threshv1.GenerateResponse_Text{Text: text[:n]}}); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
