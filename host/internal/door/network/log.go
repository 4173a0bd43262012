package network

import (
	"fmt"
	"net/http"
	"time"
)

// done measures a request and writes one line: what was asked for, by whom, about which session, how it ended and how
// long it took. It never writes what a conversation contains: the text of an error may quote it, so that the line has
// its kind.
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
	if _, pattern := g.next.Handler(r); pattern == "" || pattern == Path {
		return nothing
	}
	return fmt.Sprintf("%.100s", r.URL.EscapedPath())
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

// Unwrap is how [http.ResponseController] finds what is below, to flush it.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// outcome tells how a request ended that reached no method, such as one for metrics: by its status.
func (a *answer) outcome() string {
	if a.status == 0 || a.status == http.StatusOK {
		return "ok"
	}
	return fmt.Sprint("http ", a.status)
}
