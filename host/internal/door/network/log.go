package network

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"time"

	"connectrpc.com/connect"

	"github.com/thresh-dev/thresh/host"
)

// done measures a request and writes one line: what was asked for, by whom, about which session, how it ended and how
// long it took. It never writes what a conversation contains: the text of an error may quote it, so that the line has
// its code.
func (g *gate) done(c *caller, r *http.Request, a *answer, began time.Time) {
	took := time.Since(began)
	outcome := c.outcome
	if outcome == "" {
		outcome = a.outcome()
	}
	g.requests.Done(c.method, outcome, took)
	if c.fault != nil {
		g.log.Error("the session store failed a request", "error", c.fault, "owner", c.grant.Name, "from", c.from)
	}
	g.log.Info("request",
		"method", g.shown(r),
		"outcome", outcome,
		// Three decimals: many requests take less than a millisecond.
		"ms", float64(took.Microseconds())/1000,
		// The handler has set the session by now, also if it failed later. The owner is "" for the local user, and for
		// those that were refused before their token was known.
		"session", c.session, "owner", c.grant.Name)
}

// nothing is logged in place of a path at which nothing is served: that may have a token in it, such as the proxy takes.
const nothing = "(nothing is served there)"

// shown is what the log says that was asked for. Escaped it has no line breaks.
func (g *gate) shown(r *http.Request) string {
	if _, pattern := g.next.Handler(r); pattern == "" {
		return nothing
	}
	return fmt.Sprintf("%.100s", r.URL.EscapedPath())
}

// noting keeps how a method ended for the log: a status of HTTP does not tell, and what a method answers does not pass
// through the gate. A method that panics has ended with an error.
type noting struct{ host *host.Host }

func (n noting) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (response connect.AnyResponse, err error) {
		err = n.call(ctx, request.Spec(), func() error {
			response, err = next(ctx, request)
			return err
		})
		return response, err
	}
}

func (n noting) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		return n.call(ctx, conn.Spec(), func() error { return next(ctx, conn) })
	}
}

func (n noting) call(ctx context.Context, of connect.Spec, method func() error) (err error) {
	defer func() {
		err = failure(ctx, err)
		note(ctx, of, err)
	}()
	defer n.host.Guard(path.Base(of.Procedure), &err)
	return method()
}

// WrapStreamingClient does nothing: the interface demands it, and a server makes no calls.
func (noting) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// note keeps the method and its outcome with the caller, from where [gate.done] takes them.
func note(ctx context.Context, of connect.Spec, err error) {
	c := callerOf(ctx)
	c.method = path.Base(of.Procedure)
	switch {
	case err != nil:
		c.outcome = connect.CodeOf(err).String()
	case c.outcome == "": // else a turn failed that was answered nevertheless
		c.outcome = "ok"
	}
}

// answer is what a handler answers, watched for the status.
type answer struct {
	http.ResponseWriter
	status int // of HTTP; 0 until it is sent
}

func (a *answer) Write(part []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(part)
}

func (a *answer) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Flush is what streams need. [http.ResponseController] finds what is below by Unwrap.
func (a *answer) Flush()                      { _ = http.NewResponseController(a.ResponseWriter).Flush() }
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// outcome tells how a request ended that reached no method, such as one that cannot be read or one for metrics: its
// status of gRPC or, in all other protocols, of HTTP.
func (a *answer) outcome() string {
	for _, name := range []string{"Grpc-Status", http.TrailerPrefix + "Grpc-Status"} {
		if code, err := strconv.Atoi(a.Header().Get(name)); err == nil && code != 0 {
			return connect.Code(code).String()
		}
	}
	if a.status == 0 || a.status == http.StatusOK {
		return "ok"
	}
	return fmt.Sprint("http ", a.status)
}
