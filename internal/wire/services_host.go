package wire

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"google.golang.org/grpc"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// The host's ends of the services' streams.
type (
	// EstimateStream is an EstimateTokens that a plugin made.
	EstimateStream = grpc.ClientStreamingServer[threshv1.EstimateTokensRequest, threshv1.EstimateTokensResponse]
	// GenerateStream is a Generate that a plugin made.
	GenerateStream = grpc.BidiStreamingServer[threshv1.GenerateRequest, threshv1.GenerateResponse]
)

// maxDelta is the most text that one message to a plugin carries, in bytes.
const maxDelta = MaxChunk / 2

// ReceiveEstimate reads which call an EstimateTokens is for. entries then reads what is to be counted; the caller can
// refuse the call before that.
func ReceiveEstimate(
	stream EstimateStream,
) (call string, entries func(limits Limits) ([]content.Content, error), err error) {
	first, err := stream.Recv()
	if err != nil {
		return "", nil, noCallID(err)
	}
	next := func() ([]byte, error) {
		if first != nil { // it may hold entries too
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

// SendEstimate answers an EstimateTokens.
func SendEstimate(stream EstimateStream, counts []int) error {
	r := &threshv1.EstimateTokensResponse{Tokens: make([]int64, len(counts))}
	for i, n := range counts {
		r.Tokens[i] = int64(n)
	}
	return stream.SendAndClose(r)
}

// ReceiveGenerate reads which call a Generate is for. request then reads the rest of it; the caller can refuse the call
// before that.
func ReceiveGenerate(
	stream GenerateStream,
) (call string, request func(limits Limits) (contract.GenerateRequest, error), err error) {
	first, err := stream.Recv()
	if err != nil {
		return "", nil, noCallID(err)
	}
	h := first.GetHeader()
	return h.GetCallId(), func(limits Limits) (contract.GenerateRequest, error) {
		entries, err := readContents(func() ([]byte, error) {
			m, err := stream.Recv()
			return m.GetChunk(), err
		}, limits)
		return contract.GenerateRequest{
			System: h.GetSystem(), Entries: entries, MaxOutputTokens: int(max(0, h.GetMaxOutputTokens())),
		}, err
	}, nil
}

// SendText passes text of a completion on, in messages of a bounded size that are cut between characters.
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

// SendCompletion ends the answer to a Generate. The text itself was sent before, by [SendText].
func SendCompletion(stream GenerateStream, c contract.Completion) error {
	end := &threshv1.GenerateResponse_End{End: toGenerateEnd(c)}
	return stream.Send(&threshv1.GenerateResponse{Part: end})
}

// ToPrompt makes the answer to a ResolvePrompt.
func ToPrompt(text string) *threshv1.ResolvePromptResponse {
	return &threshv1.ResolvePromptResponse{Text: validUTF8(text)}
}

// toGenerateEnd leaves the text out, which travels ahead of it.
func toGenerateEnd(c contract.Completion) *threshv1.GenerateEnd {
	return &threshv1.GenerateEnd{
		FinishReason: validUTF8(c.FinishReason),
		InputTokens:  int64(c.InputTokens),
		OutputTokens: int64(c.OutputTokens),
		Model:        validUTF8(c.Model),
	}
}

func fromGenerateEnd(e *threshv1.GenerateEnd) contract.Completion {
	return contract.Completion{
		FinishReason: e.GetFinishReason(),
		InputTokens:  int(e.GetInputTokens()),
		OutputTokens: int(e.GetOutputTokens()),
		Model:        e.GetModel(),
	}
}

// readContents reads entries without ids to the end of a stream.
func readContents(next func() ([]byte, error), limits Limits) ([]content.Content, error) {
	limits.Of, limits.Count = "entry", UntilEnd
	return ReadAll(next, limits, DecodeContent)
}

// noCallID is the error for a stream that ends before it has said which call it is for.
func noCallID(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the stream ended before the message that names the call", ErrProtocol)
	}
	return err
}
