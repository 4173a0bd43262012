package wire

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"google.golang.org/grpc"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

type (
	// EstimateStream is the host's end of an EstimateTokens: the plugin streams entries, the host answers once.
	EstimateStream = grpc.ClientStreamingServer[threshv1.EstimateTokensRequest, threshv1.EstimateTokensResponse]
	// GenerateStream is the host's end of a Generate. Its context ends when the plugin cancels or dies.
	GenerateStream = grpc.BidiStreamingServer[threshv1.GenerateRequest, threshv1.GenerateResponse]
)

// maxDelta is the most text in one message, in bytes: a provider that does not stream may return an answer over the
// message limits of gRPC libraries.
const maxDelta = MaxChunk / 2

// ReceiveEstimate reads which call an EstimateTokens is for. The returned function then reads the entries. The split
// lets the caller refuse an unknown or finished call before it buffers megabytes for it.
func ReceiveEstimate(
	stream EstimateStream,
) (call string, entries func(limits Limits) ([]content.Content, error), err error) {
	first, err := stream.Recv()
	if err != nil {
		return "", nil, noCallID(err)
	}
	next := func() ([]byte, error) {
		if first != nil { // the first message may hold entries too
			chunk := first.GetChunk()
			first = nil
			return chunk, nil
		}
		m, err := stream.Recv()
		return m.GetChunk(), err
	}
	return first.GetCallId(), func(limits Limits) ([]content.Content, error) {
		return readContents(next, limits)
	}, nil
}

// SendEstimate answers an EstimateTokens with one token count per entry, in their order.
func SendEstimate(stream EstimateStream, counts []int) error {
	r := &threshv1.EstimateTokensResponse{Tokens: make([]int64, len(counts))}
	for i, n := range counts {
		r.Tokens[i] = int64(n)
	}
	return stream.SendAndClose(r)
}

// ReceiveGenerate reads which call a Generate is for; the returned function reads the rest, so the caller can refuse a
// call without a grant first. A negative MaxOutputTokens is read as 0, no limit of the strategy's own.
func ReceiveGenerate(
	stream GenerateStream,
) (call string, request func(limits Limits) (sdk.GenerateRequest, error), err error) {
	first, err := stream.Recv()
	if err != nil {
		return "", nil, noCallID(err)
	}
	h := first.GetHeader()
	return h.GetCallId(), func(limits Limits) (sdk.GenerateRequest, error) {
		entries, err := readContents(func() ([]byte, error) {
			m, err := stream.Recv()
			return m.GetChunk(), err
		}, limits)
		return sdk.GenerateRequest{
			System: h.GetSystem(), Entries: entries, MaxOutputTokens: int(max(0, h.GetMaxOutputTokens())),
		}, err
	}, nil
}

// SendText streams text of a completion in messages of at most maxDelta bytes, cut between characters: each is a proto3
// string and must be valid UTF-8 by itself.
func SendText(stream GenerateStream, text string) error {
	for text = validUTF8(text); text != ""; {
		n := min(len(text), maxDelta)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		m := &threshv1.GenerateResponse{Part: &threshv1.GenerateResponse_Text{Text: text[:n]}}
		if err := stream.Send(m); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// SendCompletion ends the answer to a Generate, after [SendText]. Without it the plugin treats the text as truncated.
func SendCompletion(stream GenerateStream, c sdk.Completion) error {
	end := &threshv1.GenerateResponse_End{End: toGenerateEnd(c)}
	return stream.Send(&threshv1.GenerateResponse{Part: end})
}

func ToPrompt(text string) *threshv1.ResolvePromptResponse {
	return &threshv1.ResolvePromptResponse{Text: validUTF8(text)}
}

// toGenerateEnd leaves out the text, which was streamed ahead. Token counts are the provider's, 0 if it reports none.
func toGenerateEnd(c sdk.Completion) *threshv1.GenerateEnd {
	return &threshv1.GenerateEnd{
		FinishReason: validUTF8(c.FinishReason),
		InputTokens:  int64(c.InputTokens),
		OutputTokens: int64(c.OutputTokens),
		Model:        validUTF8(c.Model),
	}
}

func fromGenerateEnd(e *threshv1.GenerateEnd) sdk.Completion {
	return sdk.Completion{
		FinishReason: e.GetFinishReason(),
		InputTokens:  int(e.GetInputTokens()),
		OutputTokens: int(e.GetOutputTokens()),
		Model:        e.GetModel(),
	}
}

func readContents(next func() ([]byte, error), limits Limits) ([]content.Content, error) {
	limits.Of, limits.Count = "entry", UntilEnd
	return ReadAll(next, limits, func(msg []byte) (content.Content, error) {
		if err := limits.charge(weigh(msg, shapeContent)); err != nil {
			return content.Content{}, err
		}
		return DecodeContent(msg)
	})
}

// noCallID is the error for a stream that fails before it has named its call. gRPC's own errors stay as they are.
func noCallID(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the stream ended before the message that names the call", ErrProtocol)
	}
	return err
}
