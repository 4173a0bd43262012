package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

// edits removes the first entry, or what else the name says.
func (s *strategy) edits(call *threshv1.CallHeader) []proto.Message {
	remove := func(index uint64) *threshv1.Edit {
		return &threshv1.Edit{Index: index, Action: &threshv1.Edit_Remove{Remove: &threshv1.Remove{}}}
	}
	replace := func(index uint64, text string) *threshv1.Edit {
		block := &threshv1.Block{Kind: &threshv1.Block_Text{Text: &threshv1.Text{Text: text}}}
		return &threshv1.Edit{Index: index, Action: &threshv1.Edit_Replace{Replace: &threshv1.Replace{
			Blocks: []*threshv1.BlockPiece{{Piece: &threshv1.BlockPiece_Block{Block: block}}},
		}}}
	}
	n := call.GetEntries()
	if n == 0 {
		return nil
	}
	switch s.name {
	case "out-of-bounds":
		return []proto.Message{remove(n)}
	case "twice":
		return []proto.Message{remove(0), remove(0)}
	case "in-both-sets":
		return []proto.Message{remove(0), replace(0, "both")}
	case "one-gigabyte":
		return slices.Repeat([]proto.Message{replace(0, strings.Repeat("x", 1<<20))}, 1000)
	case "huge-answer":
		return []proto.Message{replace(0, strings.Repeat("x", 32<<20))}
	case "tiny-blocks":
		e := replace(0, "")
		blocks := &e.GetReplace().Blocks
		*blocks = slices.Repeat(*blocks, 2_000_000) // of six bytes each
		return []proto.Message{e}
	case "deep-json":
		return []proto.Message{deepCall(5000)}
	case "changes-human-text":
		return []proto.Message{replace(0, "I never said that")}
	default:
		return []proto.Message{remove(0)}
	}
}

// deepCall is an edit with a tool call whose parameters are nested so deep.
func deepCall(depth int) proto.Message {
	params := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
	block := &threshv1.Block{Kind: &threshv1.Block_ToolCall{ToolCall: &threshv1.ToolCall{Id: "1", Name: "x", Parameters: params}}}
	return &threshv1.Edit{Index: 0, Action: &threshv1.Edit_Replace{Replace: &threshv1.Replace{
		Blocks: []*threshv1.BlockPiece{{Piece: &threshv1.BlockPiece_Block{Block: block}}},
	}}}
}

// Compress keeps the second half of the entries, or does what else the name says.
func (s *strategy) Compress(stream grpc.BidiStreamingServer[threshv1.CompressRequest, threshv1.CompressResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	if err := s.misbehave(stream.Context(), "compress"); err != nil {
		return err
	}
	if err := drain(stream.Recv); err != nil {
		return err
	}
	call := first.GetHeader().GetCall()
	s.flood(stream.Context(), call.GetCallId())
	result := &threshv1.CompressResult{Revision: call.GetRevision(), Metadata: &threshv1.CompressMetadata{MiddleCompressed: proto.Int64(2)}}
	pieces := []proto.Message{
		&threshv1.Piece{Piece: &threshv1.Piece_Keep{Keep: &threshv1.KeepRange{From: call.GetEntries() / 2, To: call.GetEntries()}}},
	}
	switch s.name {
	case "for-another-revision":
		result.Revision++
	case "out-of-bounds":
		pieces = []proto.Message{&threshv1.Piece{Piece: &threshv1.Piece_Keep{Keep: &threshv1.KeepRange{To: call.GetEntries() + 1}}}}
	case "needs-llm", "connects-late":
		if s.host == nil {
			if err := s.connect(); err != nil {
				return err
			}
		}
		text, err := s.useServices(stream.Context(), call.GetCallId())
		if err != nil {
			return err
		}
		pieces = append(pieces, &threshv1.Piece{Piece: &threshv1.Piece_Entry{Entry: textEntry(text)}})
	case "uses-no-call":
		_, err := s.useServices(stream.Context(), "somebody-elses")
		result.NoopReason, pieces = fmt.Sprintf("%v: %v", status.Code(err), err), nil
	case "generates-without-leave":
		_, err := s.generate(stream.Context(), call.GetCallId(), "")
		result.NoopReason, pieces = fmt.Sprintf("%v: %v", status.Code(err), err), nil
	case "asks-without-end":
		for n := 0; ; n++ {
			if _, err := s.host.ResolvePrompt(stream.Context(), &threshv1.ResolvePromptRequest{CallId: call.GetCallId(), Name: "compression"}); err != nil {
				result.NoopReason, pieces = fmt.Sprintf("after %d: %v", n, err), nil
				break
			}
		}
	case "tries-to-escape":
		result.NoopReason, pieces = escapes(call.GetConfig()), nil
	case "eats-memory":
		eat()
	case "fills-its-directory", "starts-threads", "shares-memory", "takes-page-tables":
		result.NoopReason, pieces = takes(s.name), nil
	case "tells-what-it-sees":
		result.NoopReason, pieces = whatItSees(call.GetConfig(), s.config), nil
	case "counts-without-end":
		result.Metadata.Counts = map[string]int64{}
		for i := range 100_000 {
			result.Metadata.Counts[fmt.Sprint("label-", i)] = 1
		}
	case "does-nothing-and-something":
		result.NoopReason = "nothing"
	}
	result.Pieces = uint64(len(pieces))
	return answer(pieces, s.name,
		func() error {
			return stream.Send(&threshv1.CompressResponse{Part: &threshv1.CompressResponse_Header{Header: result}})
		},
		func(chunk []byte) error {
			return stream.Send(&threshv1.CompressResponse{Part: &threshv1.CompressResponse_Chunk{Chunk: chunk}})
		})
}

// answer sends the header, then the messages in chunks.
func answer(messages []proto.Message, name string, header func() error, chunk func([]byte) error) error {
	if name == "one-gigabyte" {
		return gigabyte(messages, header, chunk)
	}
	var buf bytes.Buffer
	for _, m := range messages {
		if _, err := protodelim.MarshalTo(&buf, m); err != nil {
			return err
		}
	}
	switch name {
	case "answers-without-header":
		return chunk([]byte{0})
	case "answers-garbage":
		buf.Reset()
		buf.WriteString("\x05\xff\xff\xff\xff\xff")
	case "answers-too-much":
		buf.WriteString("more")
	case "sends-two-headers":
		if err := header(); err != nil {
			return err
		}
	case "never-ends":
		return forever(header, func() error { return chunk(buf.Bytes()) }) // the same edit, again and again
	case "drips":
		next := protowire.AppendVarint(nil, 1<<20)
		return forever(header, func() error {
			part := next
			next = []byte{0}
			time.Sleep(10 * time.Millisecond)
			return chunk(part)
		})
	case "sends-nothing-for-ever":
		return forever(header, func() error { return chunk(nil) })
	case "one-huge-message":
		if err := header(); err != nil {
			return err
		}
		return chunk(make([]byte, 65<<20))
	case "one-huge-chunk":
		if err := header(); err != nil {
			return err
		}
		return chunk(make([]byte, 2<<20))
	}
	if err := header(); err != nil {
		return err
	}
	for part := range slices.Chunk(buf.Bytes(), 1<<20) {
		if err := chunk(part); err != nil {
			return err
		}
	}
	return nil
}

// gigabyte sends large messages one by one: together they do not fit into the memory that a plugin has.
func gigabyte(messages []proto.Message, header func() error, chunk func([]byte) error) error {
	err := header()
	for i := 0; err == nil && i < len(messages); i++ {
		var buf bytes.Buffer
		if _, err = protodelim.MarshalTo(&buf, messages[i]); err != nil {
			break
		}
		for part := range slices.Chunk(buf.Bytes(), 1<<20) {
			if err = chunk(part); err != nil {
				break
			}
		}
	}
	return err
}

// forever sends until the host stops reading.
func forever(header, more func() error) error {
	err := header()
	for err == nil {
		err = more()
	}
	return err
}

func textEntry(text string) *threshv1.Content {
	return &threshv1.Content{Speaker: "human", Blocks: []*threshv1.Block{{Kind: &threshv1.Block_Text{Text: &threshv1.Text{Text: text}}}}}
}

// useServices asks the host for a prompt, a count and a completion, and tells what it got.
func (s *strategy) useServices(ctx context.Context, callID string) (string, error) {
	prompt, err := s.host.ResolvePrompt(ctx, &threshv1.ResolvePromptRequest{CallId: callID, Name: "compression"})
	if err != nil {
		return "", err
	}
	counting, err := s.host.EstimateTokens(ctx)
	if err != nil {
		return "", err
	}
	var buf bytes.Buffer
	if _, err := protodelim.MarshalTo(&buf, textEntry("four")); err != nil {
		return "", err
	}
	_ = counting.Send(&threshv1.EstimateTokensRequest{CallId: callID, Chunk: buf.Bytes()[:2]})
	_ = counting.Send(&threshv1.EstimateTokensRequest{Chunk: buf.Bytes()[2:]})
	counts, err := counting.CloseAndRecv()
	if err != nil {
		return "", err
	}
	text, err := s.generate(ctx, callID, prompt.GetText())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("prompt %q, tokens %v, %s", prompt.GetText(), counts.GetTokens(), text), nil
}

func (s *strategy) generate(ctx context.Context, callID, system string) (string, error) {
	stream, err := s.host.Generate(ctx)
	if err != nil {
		return "", err
	}
	header := &threshv1.GenerateHeader{CallId: callID, System: system, MaxOutputTokens: 100}
	_ = stream.Send(&threshv1.GenerateRequest{Part: &threshv1.GenerateRequest_Header{Header: header}})
	_ = stream.CloseSend()
	var text strings.Builder
	for {
		m, err := stream.Recv()
		if err != nil {
			return "", err
		}
		if end := m.GetEnd(); end != nil {
			return fmt.Sprintf("text %q, finish %q", text.String(), end.GetFinishReason()), nil
		}
		text.WriteString(m.GetText())
	}
}

// whatItSees lists the names in the environment, the working directory's mode, what standard input holds, and its
// settings.
func whatItSees(session, process []byte) string {
	var names []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	dir, _ := os.Getwd()
	info, _ := os.Stat(dir)
	input, _ := os.Readlink("/proc/self/fd/0")
	return fmt.Sprintf("env %v dir %v input %s config %s %s", names, info.Mode().Perm(), input, session, process)
}
