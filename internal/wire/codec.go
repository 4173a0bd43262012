package wire

import (
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that Codec adds to
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

// Codec is gRPC's codec for protocol buffers, for the plugin's end. It copies a chunk once out of what the connection
// received, into memory of its own. gRPC's copies it twice, and clears a megabyte for each chunk.
func Codec() encoding.CodecV2 { return codec{encoding.GetCodecV2("proto")} }

type codec struct{ encoding.CodecV2 }

// The field of a chunk in requests of both kinds, and what goes before its bytes: a tag and a length.
const chunkField, chunkTag = 2, 1 + 5

// Unmarshal decodes a message. What it decodes does not refer to data.
func (c codec) Unmarshal(data mem.BufferSlice, message any) error {
	const enough = 4 << 10 // bytes, below which gRPC has small buffers
	if data.Len() >= enough {
		switch m := message.(type) {
		case *threshv1.OptimizeRequest:
			if chunk, ok := chunkOf(data); ok {
				m.Part = &threshv1.OptimizeRequest_Chunk{Chunk: chunk}
				return nil
			}
		case *threshv1.CompressRequest:
			if chunk, ok := chunkOf(data); ok {
				m.Part = &threshv1.CompressRequest_Chunk{Chunk: chunk}
				return nil
			}
		}
	}
	return c.CodecV2.Unmarshal(data, message)
}

// chunkOf returns a copy of the chunk in a message, if that is all there is in it.
func chunkOf(data mem.BufferSlice) (chunk []byte, ok bool) {
	var head [chunkTag]byte
	data.CopyTo(head[:])
	number, kind, n := protowire.ConsumeTag(head[:])
	if n < 0 || number != chunkField || kind != protowire.BytesType {
		return nil, false
	}
	size, m := protowire.ConsumeVarint(head[n:])
	if m < 0 || size != uint64(data.Len()-n-m) {
		return nil, false
	}
	whole := make([]byte, data.Len())
	data.CopyTo(whole)
	return whole[n+m:], true
}
