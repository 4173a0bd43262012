package stdio

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
)

// request is one that was read.
type request struct {
	ctx    context.Context
	method *api.Method
	params any
	// do calls a part of the method, and makes an error of a panic in it.
	do func(func() (any, error)) (any, error)
	// done is called once, now or later.
	done func(result any, err error)
}

// start runs a request about a session in its place in the order of the session's. It is called on the goroutine of the
// queue, which makes additions take effect in the order in which they arrived: everything else of the session waits for
// it. Cancelling ctx ends a call that runs; one that waits still waits for those before it.
func (c *request) start(q *queue) {
	s, order := q.session, c.method.Order
	if _, err := c.do(func() (any, error) {
		if order == api.InTurnOnceBegun {
			is, err := s.State(c.ctx)
			if err != nil {
				return nil, err
			}
			if order = api.InTurn; is.Revision == 0 { // nothing was ever added
				q.await() // a prepare of an empty history takes no time
				order = api.AtOnce
			}
		}
		if order == api.InTurn {
			// Taken here, before anything that arrives later is added.
			now, err := s.Point()
			if err != nil {
				return nil, err
			}
			s = s.At(now)
		}
		return nil, nil
	}); err != nil {
		c.done(nil, err)
		return
	}
	answer := func() {
		c.done(c.do(func() (any, error) {
			result, err := c.method.Call(c.ctx, api.Target{Session: s}, c.params)
			if err == nil && order == api.Last {
				// From here on the id is free, and requests for it are refused until it is opened again.
				q.session = nil
			}
			return result, err
		}))
	}
	if order == api.InTurn {
		q.inBackground(answer)
		return
	}
	answer()
}

// opening is the host for requests that open and end the session of a queue.
type opening struct {
	api.Host[api.Session]
	host *host.Host
	q    *queue
}

func (o opening) Open(ctx context.Context, r api.OpenRequest) (api.Session, error) {
	opened, err := o.host.Open(ctx, r)
	if err != nil {
		return nil, err
	}
	o.q.session = opened
	return opened, nil
}

func (o opening) Delete(ctx context.Context, of api.Of) error {
	err := o.Host.Delete(ctx, of)
	if err == nil {
		o.q.session = nil
	}
	return err
}

// errCanceled ends the context of a request that the agent cancelled. A turn that waited for another one ends with this
// cause, and its kind is that of any cancellation.
var errCanceled = fmt.Errorf("canceled by the agent: %w", context.Canceled)

// Cancel cancels a request of the same connection. The cancelled request is still answered, with an error. The id is
// compared as JSON text: 1 and "1" are different, as they are in JSON-RPC.
func (s *server) Cancel(_ context.Context, r api.CancelRequest) (api.CancelAnswer, error) {
	if len(r.ID) == 0 || string(r.ID) == "null" || !jsonrpc.ValidID(r.ID) {
		return api.CancelAnswer{}, api.Refuse("id", `"id" must be the id of a request: text or a number`)
	}
	// It may end at this moment. Then it was answered, and there is nothing to cancel.
	cancel, ok := s.inProgress.Load(string(r.ID))
	if ok {
		cancel.(context.CancelCauseFunc)(errCanceled)
	}
	return api.CancelAnswer{Canceled: ok}, nil
}
