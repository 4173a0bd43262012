package sdk

import (
	"errors"
	"fmt"
	"io"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/wire"
)

// request is a message of a call: Optimize and Compress both send a header of their own, H, and then chunks.
type request[H any] interface {
	GetHeader() H
	GetChunk() []byte
}

// callHeader is what the headers of both have in common.
type callHeader interface {
	GetCall() *threshv1.CallHeader
}

// errResync says that a call builds on a history sent before. None is kept: the host is asked for all of it.
var errResync = errors.New("the whole history is needed")

// receive reads what a call begins with: its header and the history that follows. part returns a message's oneof. The
// header comes with [errResync] too.
func receive[R request[H], H callHeader](recv func() (R, error), part func(R) any) (H, *history, error) {
	var none H
	first, err := recv()
	if err != nil {
		return none, nil, noHeader(err)
	}
	h := first.GetHeader()
	call := h.GetCall()
	if call == nil {
		return none, nil, noHeader(nil)
	}
	if call.GetBase().GetLength() > 0 {
		return h, nil, errResync
	}
	entries, err := receiveHistory(call, func() ([]byte, error) {
		r, err := recv()
		if err != nil {
			return nil, err
		}
		return chunkOf(part(r), r.GetChunk())
	})
	return h, entries, err
}

// noHeader is the error for a stream that does not open with a header. err is what Recv returned, if it failed.
func noHeader(err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		return err // gRPC's own; it has answered already
	}
	return fmt.Errorf("%w: the first message of a call is a header with a CallHeader", wire.ErrMalformed)
}

// chunkOf returns the chunk of a message, of which part is the oneof: after the header nothing else may come.
func chunkOf(part any, chunk []byte) ([]byte, error) {
	switch part.(type) {
	case *threshv1.OptimizeRequest_Chunk, *threshv1.CompressRequest_Chunk:
		return chunk, nil
	}
	return nil, fmt.Errorf("%w: only chunks follow the header", wire.ErrMalformed)
}
