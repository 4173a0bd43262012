package stdio

import (
	"context"
	"encoding/json"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/service"
)

// The methods that are about a session. Each decodes its parameters, calls the service, and has nothing of its own but
// its place in the order of the session's requests.

// request is a call of a method that is about a session.
type request struct {
	ctx    context.Context
	queue  *queue
	params json.RawMessage
	// do calls a part of the method, and makes an error of a panic in it.
	do func(func() (any, error)) (any, error)
	// done is called once, now or later.
	done func(result any, err error)
}

// answer ends the call with what f returns.
func (c *request) answer(f func() (any, error)) { c.done(c.do(f)) }

// now makes a call of a function that is done when it returns. Such a method must be quick: everything else of the
// session waits for it, additions included.
func now[P any](f func(ctx context.Context, s *service.Session, p P) (any, error)) func(*request) {
	return func(c *request) {
		// Still on the goroutine of the queue, which makes additions take effect in the order in which they arrived.
		c.answer(func() (any, error) {
			var p P
			if err := decodeParams(c.params, &p); err != nil {
				return nil, err
			}
			return f(c.ctx, c.queue.session, p)
		})
	}
}

// inTurn makes a call of a function that runs after the requests before it have taken effect. Entries that are added
// meanwhile do not wait for it, and it does not see them: up is the moment when its turn was. Cancelling ctx ends a
// call that runs; one that waits still waits for those before it.
func inTurn[P any](
	f func(ctx context.Context, s *service.Session, p P, up *host.Mark) (any, error),
) func(*request) {
	return func(c *request) {
		var p P
		var up host.Mark
		s := c.queue.session
		if _, err := c.do(func() (any, error) {
			// Taken in the queue, before anything that arrives later is added.
			up = s.Mark()
			return nil, decodeParams(c.params, &p)
		}); err != nil {
			c.done(nil, err)
			return
		}
		c.queue.inBackground(func() { c.answer(func() (any, error) { return f(c.ctx, s, p, &up) }) })
	}
}

// empty is the result of a method that returns nothing.
type empty struct{}

// sessionParams is embedded by the parameters of every method that is about a session. The id was used to find the
// queue already, so the methods do not look at it.
type sessionParams struct {
	Session string `json:"session"`
}

// params are a request of the service with the session that it is for.
type (
	setParams struct {
		sessionParams
		service.SetRequest
	}
	addParams struct {
		sessionParams
		service.AddRequest
	}
	recordedParams struct {
		sessionParams
		service.RecordedRequest
	}
	explainParams struct {
		sessionParams
		service.ExplainRequest
	}
	systemParams struct {
		sessionParams
		service.SystemRequest
	}
	todosParams struct {
		sessionParams
		service.TodosRequest
	}
	usageParams struct {
		sessionParams
		service.UsageRequest
	}
	prepareParams struct {
		sessionParams
		service.PrepareRequest
	}
)

// setInTurn lets entries be added while it waits, except to an empty history: a setting may then decide how they are
// counted, and a prepare of an empty history takes no time.
func setInTurn(c *request) {
	first, err := c.do(func() (any, error) { return c.queue.session.Size(nil).Revision == 0, nil })
	switch {
	case err != nil:
		c.done(nil, err)
	case first.(bool): // nothing was ever added
		c.queue.await()
		now(func(_ context.Context, s *service.Session, p setParams) (any, error) {
			return empty{}, s.Set(p.SetRequest)
		})(c)
	default:
		inTurn(func(_ context.Context, s *service.Session, p setParams, _ *host.Mark) (any, error) {
			return empty{}, s.Set(p.SetRequest)
		})(c)
	}
}

// closeSession runs when all requests before it have ended: the method holds the queue.
func closeSession(c *request) {
	now(func(_ context.Context, s *service.Session, _ sessionParams) (any, error) {
		if err := s.Close(); err != nil {
			return nil, err // the transcript could not be written: the session stays open
		}
		// From here on the id is free, and requests for it are refused until it is opened again.
		c.queue.session = nil
		return empty{}, nil
	})(c)
}

// add does not wait for a turn, and a turn that was asked for before does not see the entries.
func add(ctx context.Context, s *service.Session, p addParams) (any, error) {
	return s.Add(ctx, p.AddRequest)
}

// get shows the history as it was when the request arrived, not as it is when it is answered: what the agent sent later
// is not in it.
func get(ctx context.Context, s *service.Session, _ sessionParams, up *host.Mark) (any, error) {
	return s.History(ctx, up)
}

// recorded is not in turn, since what was recorded never changes.
func recorded(ctx context.Context, s *service.Session, p recordedParams) (any, error) {
	return s.Recorded(ctx, p.RecordedRequest)
}

// explain is not in turn either: what was done stays done.
func explain(ctx context.Context, s *service.Session, p explainParams) (any, error) {
	return s.Explain(ctx, p.ExplainRequest)
}

// setSystem is in turn, so that a prepare before it is sent with the prompt of its time.
func setSystem(ctx context.Context, s *service.Session, p systemParams, _ *host.Mark) (any, error) {
	return s.SetSystem(ctx, p.SystemRequest)
}

// getSession is in turn: it shows the session as the requests before it leave it.
func getSession(ctx context.Context, s *service.Session, _ sessionParams, up *host.Mark) (any, error) {
	return s.State(ctx, up)
}

// setTodos is in turn: the prepare before it uses the list before it.
func setTodos(_ context.Context, s *service.Session, p todosParams, _ *host.Mark) (any, error) {
	return empty{}, s.SetTodos(p.TodosRequest)
}

// reportUsage is in turn, so that the figure belongs to the prepare before it.
func reportUsage(_ context.Context, s *service.Session, p usageParams, _ *host.Mark) (any, error) {
	return empty{}, s.ReportUsage(p.UsageRequest)
}

// compressHistory compresses what was added before it arrived.
func compressHistory(ctx context.Context, s *service.Session, _ sessionParams, up *host.Mark) (any, error) {
	return s.Compress(ctx, up)
}

// prepareWindow prepares what was added before it arrived.
func prepareWindow(ctx context.Context, s *service.Session, p prepareParams, up *host.Mark) (any, error) {
	p.UpTo = up
	answer, err := s.Prepare(ctx, p.PrepareRequest)
	if err == nil {
		return answer, nil
	}
	e := failure(err)
	// Even then the agent can go on: with the history as it is, or with an error to its user.
	if data, ok := e.Data.(*ErrorData); ok && answer != nil {
		data.Prepared = answer
	}
	return nil, e
}
