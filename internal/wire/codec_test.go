package wire_test

import (
	"bytes"
	"fmt"
	"testing"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/wire"
)

// Hosts and plugins may have gRPC's codec at one end and this one at the other.
func TestCodecSaysTheSameAsGRPCs(t *testing.T) {
	messages := []proto.Message{
		&threshv1.OptimizeRequest{},
		&threshv1.OptimizeRequest{Part: &threshv1.OptimizeRequest_Header{Header: &threshv1.OptimizeHeader{
			Call: &threshv1.CallHeader{SessionId: string(bytes.Repeat([]byte("s"), 10_000))}}}},
		&threshv1.OptimizeResponse{Part: &threshv1.OptimizeResponse_Chunk{Chunk: make([]byte, 10_000)}},
	}
	for _, size := range []int{0, 1, 4095, 4096, 16 << 10, 256 << 10, 256<<10 + 1, wire.MaxChunk} {
		chunk := bytes.Repeat([]byte("chunk"), size/5+1)[:size]
		messages = append(messages,
			&threshv1.OptimizeRequest{Part: &threshv1.OptimizeRequest_Chunk{Chunk: chunk}},
			&threshv1.CompressRequest{Part: &threshv1.CompressRequest_Chunk{Chunk: chunk}})
	}
	codecs := map[string]encoding.CodecV2{"gRPC's": encoding.GetCodecV2("proto"), "ours": wire.Codec()}
	for i, want := range messages {
		for from, encoder := range codecs {
			for to, decoder := range codecs {
				t.Run(fmt.Sprintf("%d from %s to %s", i, from, to), func(t *testing.T) {
					data, err := encoder.Marshal(want)
					if err != nil {
						t.Fatal(err)
					}
					// As it arrives: in frames, whose memory is used again afterwards.
					whole := data.Materialize()
					data.Free()
					var frames mem.BufferSlice
					for at := 0; at < len(whole); at += 16 << 10 {
						frames = append(frames, mem.SliceBuffer(whole[at:min(at+16<<10, len(whole))]))
					}
					got := want.ProtoReflect().New().Interface()
					if err := decoder.Unmarshal(frames, got); err != nil {
						t.Fatal(err)
					}
					clear(whole)
					if !proto.Equal(got, want) {
						t.Error("another message arrived")
					}
				})
			}
		}
	}
}
