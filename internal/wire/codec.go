package wire

import (
	"bytes"
	"sync"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that Codec adds to
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

// Codec is gRPC's codec for protocol buffers, except for chunks of requests, which are megabytes altogether: gRPC's
// clears a megabyte for each when it is sent and when it arrives, and copies it once more on arrival.
func Codec() encoding.CodecV2 { return codec{encoding.GetCodecV2("proto")} }

type codec struct{ encoding.CodecV2 }

// chunkField is the field of a chunk in both kinds of requests, chunkHead the most bytes in front of it: tag and
// length.
const chunkField, chunkHead = 2, 1 + 5

// smallChunk is the size in bytes below which gRPC has buffers of its own.
const smallChunk = 4 << 10

// Name is empty: the content type stays application/grpc, as without a codec.
func (codec) Name() string { return "" }

// Marshal returns nothing that refers to the message.
func (c codec) Marshal(message any) (mem.BufferSlice, error) {
	var chunk []byte
	switch m := message.(type) {
	case *threshv1.OptimizeRequest:
		chunk = m.GetChunk()
	case *threshv1.CompressRequest:
		chunk = m.GetChunk()
	}
	if len(chunk) < smallChunk || len(chunk) > chunkSize {
		return c.CodecV2.Marshal(message)
	}
	buf := sendBuffers.Get(chunkHead + chunkSize)
	*buf = protowire.AppendBytes(protowire.AppendTag((*buf)[:0], chunkField, protowire.BytesType), chunk)
	return mem.BufferSlice{mem.NewBuffer(buf, sendBuffers)}, nil
}

// Unmarshal decodes nothing that refers to data.
func (c codec) Unmarshal(data mem.BufferSlice, message any) error {
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
	return c.CodecV2.Unmarshal(data, message)
}

func chunkOf(data mem.BufferSlice) (chunk []byte, ok bool) {
	if data.Len() < smallChunk {
		return nil, false
	}
	var head [chunkHead]byte
	data.CopyTo(head[:])
	number, kind, n := protowire.ConsumeTag(head[:])
	if n < 0 || number != chunkField || kind != protowire.BytesType {
		return nil, false
	}
	size, m := protowire.ConsumeVarint(head[n:])
	if m < 0 || size != uint64(data.Len()-n-m) {
		return nil, false
	}
	parts := make([][]byte, len(data))
	for i, part := range data {
		parts[i] = part.ReadOnlyData()
	}
	// Join needs no memory that is cleared first.
	return bytes.Join(parts, nil)[n+m:], true
}

// buffers are reused after gRPC has sent them, and not cleared: they are written before they are read.
type buffers struct{ free sync.Pool }

var sendBuffers = &buffers{}

// Get returns a buffer of length n with undefined content.
func (b *buffers) Get(n int) *[]byte {
	if buf, ok := b.free.Get().(*[]byte); ok && cap(*buf) >= n {
		*buf = (*buf)[:n]
		return buf
	}
	buf := make([]byte, n)
	return &buf
}

func (b *buffers) Put(buf *[]byte) { b.free.Put(buf) }
