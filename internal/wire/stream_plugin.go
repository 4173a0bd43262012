package wire

import (
	"errors"
	"fmt"
	"io"
	"iter"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
)

// Update is the history of a request as it is sent: whole, or as changes to what the plugin holds.
type Update struct {
	// Resync says that the plugin does not hold what the request builds on. Nothing else is set; answer with a [Result]
	// with Resync.
	Resync bool
	// Pieces say what becomes of the held entries; none: they are unchanged.
	Pieces []MirrorPiece
	// Entries follow behind them; Count, at most as announced, sizes a slice. Without held entries they are the whole
	// history. Read them to their end, once: they are received meanwhile, while the host still sends. An error is the
	// last one, and what was read before it is of no use.
	Entries iter.Seq2[Entry, error]
	Count   int
	// Digest is the digest of what the plugin holds once it has applied the update. It is complete after Entries.
	Digest Digest
	// Bytes is how much memory the texts of Pieces and Entries keep alive: they refer to what was received. It is
	// complete after Entries.
	Bytes int
}

// ReceiveOptimize reads the request of an Optimize up to its entries. fits reports whether the plugin holds what the
// request builds on ([Call.Held] entries with [Call.Digest]); it is asked only if there is such. On an error the call
// may still be filled in, for logs.
func ReceiveOptimize(
	stream threshv1.StrategyService_OptimizeServer, fits func(Call) bool,
) (Call, sdk.OptimizeParams, *Update, error) {
	first, err := stream.Recv()
	if err != nil {
		return Call{}, sdk.OptimizeParams{}, nil, noCallHeader(err)
	}
	call, params, err := fromOptimizeHeader(first.GetHeader())
	if err != nil {
		return call, params, nil, err
	}
	update, err := receive(call, fits, func() (chunk []byte, isChunk bool, err error) {
		r, err := stream.Recv()
		_, isChunk = r.GetPart().(*threshv1.OptimizeRequest_Chunk)
		return r.GetChunk(), isChunk, err
	})
	return call, params, update, err
}

// ReceiveCompress is [ReceiveOptimize] for a Compress.
func ReceiveCompress(
	stream threshv1.StrategyService_CompressServer, fits func(Call) bool,
) (Call, sdk.CompressParams, *Update, error) {
	first, err := stream.Recv()
	if err != nil {
		return Call{}, sdk.CompressParams{}, nil, noCallHeader(err)
	}
	call, params, err := fromCompressHeader(first.GetHeader())
	if err != nil {
		return call, params, nil, err
	}
	update, err := receive(call, fits, func() (chunk []byte, isChunk bool, err error) {
		r, err := stream.Recv()
		_, isChunk = r.GetPart().(*threshv1.CompressRequest_Chunk)
		return r.GetChunk(), isChunk, err
	})
	return call, params, update, err
}

// receive reads what follows the header of a request: the announced pieces, and the entries as they are asked for. recv
// tells a chunk from a second header, which breaks the protocol. It is not generic: every instance would make each
// plugin larger.
func receive(
	call Call, fits func(Call) bool, recv func() (chunk []byte, isChunk bool, err error),
) (*Update, error) {
	up := &Update{Count: min(call.Entries, trusted)}
	if call.Held > 0 {
		if !fits(call) {
			return &Update{Resync: true}, nil
		}
		up.Digest = call.Digest
	}
	r := NewReader(func() ([]byte, error) {
		chunk, isChunk, err := recv()
		if err == nil && !isChunk {
			err = fmt.Errorf("%w: only chunks follow the header", ErrMalformed)
		}
		up.Digest.add(chunk)
		up.Bytes += len(chunk)
		return chunk, err
	}, Limits{Of: "entry", Count: call.Pieces + call.Entries})
	r.stable = true // each message of gRPC has memory of its own, which entries may go on using
	for i := range call.Pieces {
		msg, err := r.Next()
		if err != nil {
			return nil, err
		}
		p, err := decodeMirrorPiece(msg)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		up.Pieces = append(up.Pieces, p)
	}
	up.Entries = func(yield func(Entry, error) bool) {
		for i := call.Pieces; ; i++ {
			msg, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			// i is the position in the message, pieces included.
			var e Entry
			if err == nil {
				if e, err = decodeEntry(msg); err != nil {
					err = fmt.Errorf("entry %d: %w", i, err)
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
	return up, nil
}

func noCallHeader(err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		return err // gRPC's own, which has answered already
	}
	return fmt.Errorf("%w: the first message of a call is a header with a CallHeader", ErrMalformed)
}

// SendEdits answers an Optimize. It overwrites r.Parts. An edit that cannot be sent fails the call after the header is
// out: the host sees a truncated answer with the error's status, and keeps its history.
func SendEdits(
	stream threshv1.StrategyService_OptimizeServer, r Result[sdk.DensityMetadata], edits []rewrite.Edit,
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

// SendPieces answers a Compress. It overwrites r.Parts; see [SendEdits] for errors.
func SendPieces(
	stream threshv1.StrategyService_CompressServer, r Result[sdk.CompressMetadata], pieces []rewrite.Piece,
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
