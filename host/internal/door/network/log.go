package network

import (
	"context"
	"time"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"
)

// logging writes one line per request: what was asked for, by whom, about which session, how it ended and how long it
// took. It never writes what a conversation contains: the text of an error may quote it, so that the line has its code.
// Methods of health are not logged, because they do not go through it.
type logging struct{ log hclog.Logger }

func (l logging) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		began := time.Now()
		response, err := next(ctx, request)
		l.line(ctx, request.Spec().Procedure, began, err)
		return response, err
	}
}

func (l logging) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		began := time.Now()
		err := next(ctx, conn)
		l.line(ctx, conn.Spec().Procedure, began, err)
		return err
	}
}

// The interface demands it; a server makes no calls.
func (l logging) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// Milliseconds have three decimals: many requests take less than one.
func (l logging) line(ctx context.Context, method string, began time.Time, err error) {
	outcome := "ok"
	if err != nil {
		outcome = connect.CodeOf(err).String()
	}
	values := []any{"method", method, "outcome", outcome, "ms", float64(time.Since(began).Microseconds()) / 1000}
	// The handler has set the session by now, also if it failed later. The owner is "" for the local user.
	if c := callerOf(ctx); c != nil {
		values = append(values, "session", c.session, "owner", c.grant.Name)
	}
	l.log.Info("request", values...)
}
