package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
)

// Stream is the host's end of one Optimize or Compress: a header and the history are sent, a [Result] with the metadata
// M and then the parts P come back. Call Send, Result and Parts in this order, on one goroutine. To abandon it, cancel
// the context given to OpenX; otherwise read it to its end, or gRPC keeps its resources.
//
// The function fields hide the two calls' different generated types.
type Stream[M sdk.DensityMetadata | sdk.CompressMetadata, P any] struct {
	of         string // the word for a part in errors
	sendHeader func() error
	sendChunk  func(chunk []byte) error
	closeSend  func() error
	recv       func() (message[M], error)
	decode     func(msg []byte) (P, error)
	shape      shape  // of what decode returns
	digest     Digest // of what the plugin holds, extended by what is sent
}

type message[M sdk.DensityMetadata | sdk.CompressMetadata] struct {
	isHeader bool
	header   Result[M]
	chunk    []byte
}

// OpenOptimize begins an Optimize. Nothing is sent before [Stream.Send]. ctx bounds the whole call, not only its
// opening.
func OpenOptimize(
	ctx context.Context, client threshv1.StrategyServiceClient, c Call, p sdk.OptimizeParams,
) (*Stream[sdk.DensityMetadata, rewrite.Edit], error) {
	s, err := client.Optimize(ctx)
	if err != nil {
		return nil, err
	}
	return &Stream[sdk.DensityMetadata, rewrite.Edit]{
		of: "edit", digest: c.Digest,
		sendHeader: func() error {
			h := &threshv1.OptimizeRequest_Header{Header: toOptimizeHeader(c, p)}
			return s.Send(&threshv1.OptimizeRequest{Part: h})
		},
		sendChunk: func(chunk []byte) error {
			return s.Send(&threshv1.OptimizeRequest{Part: &threshv1.OptimizeRequest_Chunk{Chunk: chunk}})
		},
		closeSend: s.CloseSend,
		recv: func() (message[sdk.DensityMetadata], error) {
			m, err := s.Recv()
			h := m.GetHeader()
			return message[sdk.DensityMetadata]{h != nil, fromOptimizeResult(h), m.GetChunk()}, err
		},
		decode: DecodeEdit, shape: shapeEdit,
	}, nil
}

func OpenCompress(
	ctx context.Context, client threshv1.StrategyServiceClient, c Call, p sdk.CompressParams,
) (*Stream[sdk.CompressMetadata, rewrite.Piece], error) {
	s, err := client.Compress(ctx)
	if err != nil {
		return nil, err
	}
	return &Stream[sdk.CompressMetadata, rewrite.Piece]{
		of: "piece", digest: c.Digest,
		sendHeader: func() error {
			h := &threshv1.CompressRequest_Header{Header: toCompressHeader(c, p)}
			return s.Send(&threshv1.CompressRequest{Part: h})
		},
		sendChunk: func(chunk []byte) error {
			return s.Send(&threshv1.CompressRequest{Part: &threshv1.CompressRequest_Chunk{Chunk: chunk}})
		},
		closeSend: s.CloseSend,
		recv: func() (message[sdk.CompressMetadata], error) {
			m, err := s.Recv()
			h := m.GetHeader()
			return message[sdk.CompressMetadata]{h != nil, fromCompressResult(h), m.GetChunk()}, err
		},
		decode: DecodePiece, shape: shapePiece,
	}, nil
}

// Of returns the word for a part of the answer in errors and logs: "edit" or "piece".
func (s *Stream[M, P]) Of() string { return s.of }

// Send sends the whole request: the header, the pieces that say what became of the entries that the plugin holds, and
// the entries that follow. If the plugin ends the call early, gRPC's Send returns io.EOF and keeps the cause for Recv:
// that is no error here, and Result returns the cause.
func (s *Stream[M, P]) Send(pieces []MirrorPiece, entries iter.Seq[Entry]) error {
	err := s.sendHeader()
	if err == nil {
		err = s.sendHistory(pieces, entries)
	}
	if err == nil {
		err = s.closeSend()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// Digest returns the digest of what the plugin holds once it has received everything sent. It is complete after Send.
func (s *Stream[M, P]) Digest() Digest { return s.digest }

// sendHistory encodes entries one by one, so the history is never in memory twice.
func (s *Stream[M, P]) sendHistory(pieces []MirrorPiece, entries iter.Seq[Entry]) error {
	w := NewWriter(func(chunk []byte) error {
		s.digest.add(chunk)
		return s.sendChunk(chunk)
	})
	for i, p := range pieces {
		if err := w.MirrorPiece(p); err != nil {
			return fmt.Errorf("piece %d of the history: %w", i, err)
		}
	}
	i := 0
	// Sent with ids and counts: a strategy need not ask for what the host knows.
	for e := range entries {
		if err := w.Entry(e.ID, e.Tokens, e.Content); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		i++
	}
	return w.Flush()
}

// Result receives the header of the answer. It blocks until the strategy has finished or the context ends. Its errors
// are gRPC's, or wrap [ErrProtocol].
func (s *Stream[M, P]) Result() (Result[M], error) {
	m, err := s.recv()
	switch {
	case errors.Is(err, io.EOF):
		return m.header, fmt.Errorf("%w: it ended the call without an answer", ErrProtocol)
	case err != nil:
		return m.header, err
	case !m.isHeader:
		return m.header, fmt.Errorf("%w: it does not begin with a header", ErrProtocol)
	}
	return m.header, nil
}

// Parts receives the parts that the header announced, and the end of the answer. limits.Count must be the header's
// Parts. The first error of check ends the receiving: a bad answer is not read to its end.
func (s *Stream[M, P]) Parts(limits Limits, check func(P) error) ([]P, error) {
	limits.Of = s.of
	return ReadAll(func() ([]byte, error) {
		m, err := s.recv()
		if err == nil && m.isHeader {
			err = fmt.Errorf("%w: it sends a second header", ErrProtocol)
		}
		return m.chunk, err
	}, limits, func(msg []byte) (P, error) {
		// Charged before decoding: a small message may describe a large value.
		if err := limits.charge(weigh(msg, s.shape)); err != nil {
			var none P
			return none, err
		}
		part, err := s.decode(msg)
		if err == nil {
			err = check(part)
		}
		return part, err
	})
}

// Drain receives an answer without parts to its end, unchecked, and returns the error that the call ended with.
func (s *Stream[M, P]) Drain() error {
	for {
		if _, err := s.recv(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
