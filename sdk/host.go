package sdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

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
func (h *boundHost) begin(ctx context.Context) (threshv1.HostServiceClient, context.Context, context.CancelFunc, error) {
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
	counted, err := estimate(ctx, client, h.id, fresh)
	if err != nil {
		return nil, hostError("EstimateTokens", err)
	}
	for i, at := range places {
		counts[at] = counted[i]
	}
	return counts, nil
}

func estimate(ctx context.Context, client threshv1.HostServiceClient, call string, entries []Content) ([]int, error) {
	stream, err := client.EstimateTokens(ctx)
	if err != nil {
		return nil, err
	}
	// The host may answer with an error at any time. Send then says io.EOF, and CloseAndRecv what it is.
	err = stream.Send(&threshv1.EstimateTokensRequest{CallId: call})
	if err == nil {
		err = sendEntries(entries, func(chunk []byte) error {
			return stream.Send(&threshv1.EstimateTokensRequest{Chunk: chunk})
		})
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	answer, err := stream.CloseAndRecv()
	if err != nil {
		return nil, err
	}
	if len(answer.GetTokens()) != len(entries) {
		return nil, fmt.Errorf("%w: the host counted %d entries of %d", wire.ErrProtocol, len(answer.GetTokens()), len(entries))
	}
	counts := make([]int, len(entries))
	for i, n := range answer.GetTokens() {
		counts[i] = int(n)
	}
	return counts, nil
}

func (h *boundHost) Generate(ctx context.Context, req GenerateRequest, onText func(string)) (Generation, error) {
	if err := onlyText(req.Entries); err != nil {
		return Generation{}, hostError("Generate", err)
	}
	client, ctx, done, err := h.begin(ctx)
	if err != nil {
		return Generation{}, hostError("Generate", err)
	}
	defer done()
	stream, err := client.Generate(ctx)
	if err != nil {
		return Generation{}, hostError("Generate", err)
	}
	if err := sendGenerate(stream, h.id, req); err != nil && !errors.Is(err, io.EOF) { // io.EOF: see estimate
		return Generation{}, hostError("Generate", err)
	}
	g, err := receiveGeneration(stream, onText)
	return g, hostError("Generate", err)
}

// onlyText refuses what a GenerateRequest must not hold.
func onlyText(entries []Content) error {
	for i, e := range entries {
		if e.Speaker != Human && e.Speaker != AI {
			return fmt.Errorf("%w: entry %d of the request is from %q; only human and ai may speak", wire.ErrBadContent, i, e.Speaker)
		}
		for j, b := range e.Blocks {
			if _, ok := b.(Text); !ok {
				return fmt.Errorf("%w: entry %d of the request, block %d is a %T; only text may be sent to a model", wire.ErrBadContent, i, j, b)
			}
		}
	}
	return nil
}

func sendGenerate(stream threshv1.HostService_GenerateClient, call string, req GenerateRequest) error {
	err := stream.Send(&threshv1.GenerateRequest{Part: &threshv1.GenerateRequest_Header{Header: &threshv1.GenerateHeader{
		CallId:          call,
		System:          strings.ToValidUTF8(req.System, "\ufffd"),
		MaxOutputTokens: int64(req.MaxOutputTokens),
	}}})
	if err != nil {
		return err
	}
	err = sendEntries(req.Entries, func(chunk []byte) error {
		return stream.Send(&threshv1.GenerateRequest{Part: &threshv1.GenerateRequest_Chunk{Chunk: chunk}})
	})
	if err != nil {
		return err
	}
	return stream.CloseSend()
}

func receiveGeneration(stream threshv1.HostService_GenerateClient, onText func(string)) (Generation, error) {
	var text strings.Builder
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return Generation{}, fmt.Errorf("%w: the host's answer has no end", wire.ErrTruncated)
		}
		if err != nil {
			return Generation{}, err
		}
		switch part := part.GetPart().(type) {
		case *threshv1.GenerateResponse_Text:
			text.WriteString(part.Text)
			if onText != nil {
				onText(part.Text)
			}
		case *threshv1.GenerateResponse_End:
			return Generation{
				Text:         text.String(),
				FinishReason: part.End.GetFinishReason(),
				InputTokens:  int(part.End.GetInputTokens()),
				OutputTokens: int(part.End.GetOutputTokens()),
				Model:        part.End.GetModel(),
			}, nil
		}
	}
}

func (h *boundHost) ResolvePrompt(ctx context.Context, name string) (string, error) {
	client, ctx, done, err := h.begin(ctx)
	if err != nil {
		return "", hostError("ResolvePrompt", err)
	}
	defer done()
	answer, err := client.ResolvePrompt(ctx, &threshv1.ResolvePromptRequest{CallId: h.id, Name: strings.ToValidUTF8(name, "\ufffd")})
	return answer.GetText(), hostError("ResolvePrompt", err)
}

func sendEntries(entries []Content, send func([]byte) error) error {
	w := wire.NewWriter(send)
	for i, e := range entries {
		if err := w.Content(e); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return w.Flush()
}

func hostError(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, wire.FromStatus(err))
}
