package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// EstimateTokens asks the host how many tokens each entry takes, for the call with the given id. Another number of
// counts than entries is an [ErrProtocol]. Errors of the stream are gRPC's, as they came.
func EstimateTokens(
	ctx context.Context, client threshv1.HostServiceClient, call string, entries []content.Content,
) ([]int, error) {
	stream, err := client.EstimateTokens(ctx)
	if err != nil {
		return nil, err
	}
	// The host may answer with an error at any time. Send then returns io.EOF, and CloseAndRecv the error itself.
	err = stream.Send(&threshv1.EstimateTokensRequest{CallId: call})
	if err == nil {
		err = sendContents(entries, func(chunk []byte) error {
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
		return nil, fmt.Errorf(
			"%w: the host counted %d entries of %d", ErrProtocol, len(answer.GetTokens()), len(entries),
		)
	}
	counts := make([]int, len(entries))
	for i, n := range answer.GetTokens() {
		counts[i] = int(n)
	}
	return counts, nil
}

// Generate asks the host for a completion, for the call with the given id. onText, which may be nil, gets the text as
// it arrives, on this goroutine: a slow onText slows the stream. The request is checked first, so a strategy's mistake
// is reported without a round trip.
func Generate(
	ctx context.Context, client threshv1.HostServiceClient, call string, r sdk.GenerateRequest,
	onText func(string),
) (sdk.Completion, error) {
	if err := onlyText(r.Entries); err != nil {
		return sdk.Completion{}, err
	}
	stream, err := client.Generate(ctx)
	if err != nil {
		return sdk.Completion{}, err
	}
	if err := sendGenerate(stream, call, r); err != nil && !errors.Is(err, io.EOF) { // io.EOF: see EstimateTokens
		return sdk.Completion{}, err
	}
	return receiveCompletion(stream, onText)
}

// onlyText refuses speakers other than human and ai, and blocks other than text. Tool calls would need their schemas,
// which strategies do not have; the request would fail at some providers only.
func onlyText(entries []content.Content) error {
	for i, e := range entries {
		if e.Speaker != content.Human && e.Speaker != content.AI {
			return fmt.Errorf("%w: entry %d of the request is from %q; only human and ai may speak",
				ErrBadContent, i, e.Speaker)
		}
		for j, b := range e.Blocks {
			if _, ok := b.(content.Text); !ok {
				return fmt.Errorf("%w: entry %d of the request, block %d is a %T; only text may be sent to a model",
					ErrBadContent, i, j, b)
			}
		}
	}
	return nil
}

func sendGenerate(stream threshv1.HostService_GenerateClient, call string, r sdk.GenerateRequest) error {
	h := &threshv1.GenerateRequest_Header{Header: &threshv1.GenerateHeader{
		CallId: call, System: validUTF8(r.System), MaxOutputTokens: int64(r.MaxOutputTokens),
	}}
	if err := stream.Send(&threshv1.GenerateRequest{Part: h}); err != nil {
		return err
	}
	err := sendContents(r.Entries, func(chunk []byte) error {
		return stream.Send(&threshv1.GenerateRequest{Part: &threshv1.GenerateRequest_Chunk{Chunk: chunk}})
	})
	if err != nil {
		return err
	}
	return stream.CloseSend()
}

// receiveCompletion reads up to the message that ends the answer. A stream without that end was cut.
func receiveCompletion(
	stream threshv1.HostService_GenerateClient, onText func(string),
) (sdk.Completion, error) {
	var text strings.Builder
	for {
		part, err := stream.Recv()
		// Without the end, which has the usage, the text may be half of the answer.
		if errors.Is(err, io.EOF) {
			return sdk.Completion{}, fmt.Errorf("%w: the host's answer has no end", ErrTruncated)
		}
		if err != nil {
			return sdk.Completion{}, err
		}
		switch part := part.GetPart().(type) {
		case *threshv1.GenerateResponse_Text:
			text.WriteString(part.Text)
			if onText != nil {
				onText(part.Text)
			}
		case *threshv1.GenerateResponse_End:
			c := fromGenerateEnd(part.End)
			c.Text = text.String()
			return c, nil
		}
	}
}

// ResolvePrompt asks the host for the text of the named prompt. Users override prompts in files of the workspace, which
// a sandboxed plugin cannot read itself.
func ResolvePrompt(
	ctx context.Context, client threshv1.HostServiceClient, call, name string,
) (string, error) {
	answer, err := client.ResolvePrompt(ctx, &threshv1.ResolvePromptRequest{CallId: call, Name: validUTF8(name)})
	return answer.GetText(), err
}

// sendContents sends entries without ids: they are not from the host's history.
func sendContents(entries []content.Content, send func(chunk []byte) error) error {
	w := NewWriter(send)
	for i, e := range entries {
		if err := w.Content(e); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return w.Flush()
}
