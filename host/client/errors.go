package client

import (
	"context"
	"errors"
	"net"

	"github.com/thresh-dev/thresh/host/api"
)

// failed is why a request failed. The host did not take one that is untaken: it can be made again whatever it is.
type failed struct {
	*api.Error
	untaken bool
}

// refused is what the host answered.
func refused(e *api.Error) *failed { return &failed{e, e.Kind == api.KindShutdown} }

func fault(kind api.Kind, err error) *failed {
	return &failed{Error: &api.Error{Kind: kind, Message: err.Error(), Err: err}}
}

// broken is the error of a request without an answer. ctx is the call's: a call that its own side gave up had no broken
// connection.
func broken(ctx context.Context, err error) *failed {
	ended := ctx.Err()
	var f *failed
	switch dial, ok := errors.AsType[*net.OpError](err); {
	case errors.Is(ended, context.DeadlineExceeded):
		f = fault(api.KindDeadline, ended)
		f.Retryable, f.MaybeApplied = true, true
	case ended != nil:
		f = fault(api.KindCanceled, ended)
		f.MaybeApplied = true
	default:
		f = fault(api.KindConnection, err)
		f.untaken = ok && dial.Op == "dial"
		f.Retryable, f.MaybeApplied = true, !f.untaken
	}
	return f
}
