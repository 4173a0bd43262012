package network

import (
	"context"
	"time"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"
)

// logging writes one line per request: what was asked for, by whom, about which session, how it ended and how long it
// took. It never writes what a conversation contains: the text of an error may quote it, so that the line has its code.
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

func (l logging) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

func (l logging) line(ctx context.Context, method string, began time.Time, err error) {
	outcome := "ok"
	if err != nil {
		outcome = connect.CodeOf(err).String()
	}
	values := []any{"method", method, "outcome", outcome, "ms", float64(time.Since(began).Microseconds()) / 1000}
	if c := callerOf(ctx); c != nil {
		values = append(values, "session", c.session, "owner", c.grant.Name)
	}
	l.log.Info("request", values...)
}
