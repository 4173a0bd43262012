package stdio

import (
	"context"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/service"
)

type request struct {
	ctx   context.Context
	call  *service.Call
	queue *queue
	// do calls a part of the method, and makes an error of a panic in it.
	do func(func() (any, error)) (any, error)
	// done is called once, now or later.
	done func(result any, err error)
}

// start runs the request in its place in the order of the session's. It is called on the goroutine of the queue, which
// makes additions take effect in the order in which they arrived: everything else of the session waits for it.
// Cancelling ctx ends a call that runs; one that waits still waits for those before it.
func (c *request) start() {
	s, order := c.queue.session, c.call.Method.Order
	var upTo *host.Point
	if _, err := c.do(func() (any, error) {
		if order == service.InTurnOnceBegun {
			size, err := s.Size(nil)
			if err != nil {
				return nil, err
			}
			if order = service.InTurn; size.Revision == 0 { // nothing was ever added
				c.queue.await() // a prepare of an empty history takes no time
				order = service.AtOnce
			}
		}
		if order == service.InTurn {
			// Taken here, before anything that arrives later is added.
			now, err := s.Point()
			if err != nil {
				return nil, err
			}
			upTo = &now
		}
		return nil, nil
	}); err != nil {
		c.done(nil, err)
		return
	}
	answer := func() { c.done(c.do(func() (any, error) { return c.answer(s, upTo) })) }
	if order == service.InTurn {
		c.queue.inBackground(answer)
		return
	}
	answer()
}

func (c *request) answer(s *service.Session, upTo *host.Point) (any, error) {
	result, err := c.call.Run(c.ctx, nil, s, upTo)
	if err == nil && c.call.Method.Order == service.Last {
		// From here on the id is free, and requests for it are refused until it is opened again.
		c.queue.session = nil
	}
	return result, err
}
