package network

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/metrics"
)

// Everything that decides about a request before its method is known. A refusal is answered as any error is, and logged
// like any other request.

// caller is whom a request is from, and what the log says about it. It is made by the gate and changed only by the
// handler of its request, so that it needs no lock.
type caller struct {
	// grant is what the token allows. Its name is "" for the local user, and until the token is known.
	grant   access.Grant
	from    string // the address of the connection
	session string // the session that the request is about, once that is known
	method  string // the one that it reached; "" for none
	outcome string // how it ended; "" until that is known, and where no method was reached
	fault   error  // of the store: where that is goes into the log, and not to the caller
}

type callerKey struct{}

// callerOf returns the caller of a request that came through the gate. nil for open paths, which the gate lets through
// without one.
func callerOf(ctx context.Context) *caller {
	c, _ := ctx.Value(callerKey{}).(*caller)
	return c
}

// gate lets requests in. It is the outermost handler. Every path goes through it: a handler behind it may rely on
// [callerOf], unless its path is open.
type gate struct {
	// next is what a request that was let in reaches; guard knows the tokens.
	next  *http.ServeMux
	host  *host.Host
	guard *access.Guard
	// local says that everyone who can connect is the local user: a Unix socket, which only the user can open.
	local bool
	// loopback says that only this machine can connect. A web page in a browser on it can too, under a name that it
	// made point here; so the name in the request must be one of this machine.
	loopback bool
	// open are the paths that need no token: they tell whether the host lives, and nothing else; the page has no data
	// in it. Load balancers and orchestrators ask them without credentials. They stay open while the server ends, when
	// readiness says so.
	open     map[string]bool
	ending   <-chan struct{} // closed when no more requests are taken
	log      hclog.Logger
	requests *metrics.Requests
}

// openBytes is the largest body where no token is needed: none of those paths has one.
const openBytes = 4 << 10

// most is the size of the largest request of a caller, in bytes: the lower of the host's bound and the token's.
func most(of access.Grant) int {
	if own := of.Limits.RequestBytes; own > 0 {
		return min(maxRequest, own)
	}
	return maxRequest
}

// ServeHTTP refuses a request or passes it on, and logs it either way: who looks for what goes wrong finds refusals
// where the other requests are.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.open[r.URL.Path] && g.fromHere(r) && !compressed(r) {
		g.guard.Stranger(w, r)
		r = r.WithContext(r.Context()) // the server looks at the body of its own
		r.Body = http.MaxBytesReader(w, r.Body, openBytes)
		g.next.ServeHTTP(w, r) // asked for every few seconds, and not logged
		return
	}
	c, answer := &caller{from: r.RemoteAddr}, &answer{ResponseWriter: w}
	defer g.done(c, r, answer, time.Now()) // also if a handler gives up by a panic, as package http has them do
	end, err := g.admit(r, c)
	if err != nil {
		g.guard.Stranger(answer, r)
		refuse(context.WithValue(r.Context(), callerKey{}, c), answer, err)
		return
	}
	defer end()
	r, _ = g.guard.Bound(context.WithValue(r.Context(), callerKey{}, c), answer, r, c.grant, most(c.grant))
	if err := g.serve(answer, r); err != nil {
		c.outcome = string(api.KindInternal)
		if answer.status != 0 {
			panic(http.ErrAbortHandler) // a part of the answer is on its way: the client must not take it for all
		}
		refuse(r.Context(), answer, err)
	}
}

// serve passes a request on. The error is that of a handler that panicked.
func (g *gate) serve(w http.ResponseWriter, r *http.Request) (err error) {
	defer g.host.Guard("http", &err)
	g.next.ServeHTTP(w, r)
	return nil
}

// admit decides whether a request may come in, finds out whom it is from, and counts it until end is called.
func (g *gate) admit(r *http.Request, c *caller) (end func(), err error) {
	if !g.fromHere(r) {
		return nil, errBrowser
	}
	if compressed(r) {
		return nil, errCompressed
	}
	if ended(g.ending) {
		return nil, errEnding
	}
	if !g.local {
		// A missing or another scheme leaves a text that is no token.
		token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !bearer {
			token = cmp.Or(r.Header.Get(gatewayToken), token)
		}
		if c.grant, err = g.guard.Who(r.Context(), token, r.RemoteAddr); err != nil {
			return nil, err
		}
	}
	return g.guard.Begin(c.grant)
}

// compressed reports whether the body of a request is compressed.
func compressed(r *http.Request) bool {
	for _, encoding := range r.Header["Content-Encoding"] {
		if encoding != "" && encoding != "identity" {
			return true
		}
	}
	return false
}

// fromHere reports whether a request is none that a web page made a browser send. No page reaches a Unix socket; on a
// loopback address one that made its own name point here would.
func (g *gate) fromHere(r *http.Request) bool {
	return g.local || !access.Foreign(r, g.loopback)
}
