package wire

import (
	"errors"
	"fmt"
	"io"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// ReceiveOptimize reads the whole request of an Optimize, at the plugin's end. If the host expects the plugin to hold
// entries already ([Call.Held] > 0), it returns no entries: answer with a [Result] with Resync. On an error the call
// may still be filled in, for logs.
func ReceiveOptimize(
	stream threshv1.StrategyService_OptimizeServer,
) (Call, contract.OptimizeParams, []Entry, error) {
	return receive(stream.Recv, func(r *threshv1.OptimizeRequest) bool {
		_, ok := r.GetPart().(*threshv1.OptimizeRequest_Chunk)
		return ok
	}, fromOptimizeHeader)
}

// ReceiveCompress is [ReceiveOptimize] for a Compress.
func ReceiveCompress(
	stream threshv1.StrategyService_CompressServer,
) (Call, contract.CompressParams, []Entry, error) {
	return receive(stream.Recv, func(r *threshv1.CompressRequest) bool {
		_, ok := r.GetPart().(*threshv1.CompressRequest_Chunk)
		return ok
	}, fromCompressHeader)
}

// request is a message of either call: a header of its own type H, or a chunk.
type request[H any] interface {
	GetHeader() H
	GetChunk() []byte
}

// receive reads a request to its end: the header, then as many entries as it announces. from converts the header.
// isChunk tells a chunk from a second header, which breaks the protocol; GetChunk alone cannot, as it returns nil for
// both a header and an empty chunk.
func receive[R request[H], H, P any](
	recv func() (R, error), isChunk func(R) bool, from func(H) (Call, P, error),
) (Call, P, []Entry, error) {
	var none P
	first, err := recv()
	if err != nil {
		return Call{}, none, nil, noCallHeader(err)
	}
	call, params, err := from(first.GetHeader())
	if err != nil || call.Held > 0 {
		return call, params, nil, err
	}
	entries, err := ReadAll(func() ([]byte, error) {
		r, err := recv()
		if err == nil && !isChunk(r) {
			err = fmt.Errorf("%w: only chunks follow the header", ErrMalformed)
		}
		return r.GetChunk(), err
	}, Limits{Of: "entry", Count: call.Entries}, DecodeEntry)
	return call, params, entries, err
}

// noCallHeader is the error for a request that does not open with a header. err is what Recv returned, nil if it
// returned a message of another kind.
func noCallHeader(err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		return err // gRPC's own; it has answered already
	}
	return fmt.Errorf("%w: the first message of a call is a header with a CallHeader", ErrMalformed)
}

// SendEdits answers an Optimize. It overwrites r.Parts with the number of edits. An edit that cannot be sent fails the
// call after the header is out: the host sees a truncated answer together with the error's status, and keeps its
// history.
func SendEdits(
	stream threshv1.StrategyService_OptimizeServer, r Result[contract.DensityMetadata], edits []rewrite.Edit,
) error {
	r.Parts = uint64(len(edits))
	h := &threshv1.OptimizeResponse_Header{Header: toOptimizeResult(r)}
	if err := stream.Send(&threshv1.OptimizeResponse{Part: h}); err != nil {
		return err
	}
	w := NewWriter(func(chunk []byte) error {
		return stream.Send(&threshv1.OptimizeResponse{Part: &threshv1.OptimizeResponse_Chunk{Chunk: chunk}})
	})
	for _, e := range edits {
		if err := w.Edit(e); err != nil {
			return fmt.Errorf("replacement of entry %d: %w", e.Index, err)
		}
	}
	return w.Flush()
}

// SendPieces answers a Compress. It overwrites r.Parts with the number of pieces; see [SendEdits] for errors.
func SendPieces(
	stream threshv1.StrategyService_CompressServer, r Result[contract.CompressMetadata], pieces []rewrite.Piece,
) error {
	r.Parts = uint64(len(pieces))
	h := &threshv1.CompressResponse_Header{Header: toCompressResult(r)}
	if err := stream.Send(&threshv1.CompressResponse{Part: h}); err != nil {
		return err
	}
	w := NewWriter(func(chunk []byte) error {
		return stream.Send(&threshv1.CompressResponse{Part: &threshv1.CompressResponse_Chunk{Chunk: chunk}})
	})
	for i, p := range pieces {
		if err := w.Piece(p); err != nil {
			return fmt.Errorf("part %d of the new history: %w", i, err)
		}
	}
	return w.Flush()
}
