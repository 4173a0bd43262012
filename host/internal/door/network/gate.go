package network

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/metrics"
	"github.com/thresh-dev/thresh/host/internal/store"
)

// Everything that decides about a request before its method is known. A refusal is answered in the protocol of the
// request, and logged like any other request.

// errBrowser refuses what a web page of someone else may have sent. It is checked before the token.
var errBrowser = errors.New(
	"requests of web pages are refused: Sec-Fetch-Site, Origin and Host are not those of this service")

// errCompressed refuses a body that would become larger than what was sent. Connect's bound on that would not do: it
// reads on to the end, to tell the size.
var errCompressed = connect.NewError(connect.CodeUnimplemented,
	errors.New("compressed requests are not accepted; answers are compressed if the client accepts it"))

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

// about notes which session a request is about, unless no session can have the id: it goes into the log.
func (c *caller) about(id string) error {
	if err := (store.Key{ID: id}).Check(); err != nil {
		return err
	}
	c.session = id
	return nil
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
	open map[string]bool
	// refusals writes errors in the protocol that a request came in.
	refusals *connect.ErrorWriter
	ending   <-chan struct{} // closed when no more requests are taken
	// most bounds the size of a request, in bytes, where the token does not.
	most     int
	log      hclog.Logger
	requests *metrics.Requests
}

// openBytes is the largest body where no token is needed. That of a health check is a name.
const openBytes = 4 << 10

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
		if fault := (*store.Fault)(nil); errors.As(err, &fault) {
			c.fault = err
		}
		c.outcome = g.refuse(answer, r, err).String()
		return
	}
	defer end()
	most := g.most
	if own := c.grant.Limits.RequestBytes; own > 0 {
		most = min(most, own)
	}
	// Bounded here and not by Connect, whose bound is one for all callers.
	r, body := g.guard.Bound(context.WithValue(r.Context(), callerKey{}, c), answer, r, c.grant, most)
	if body != nil {
		r.Body = statusBody{body, r.Context()}
	}
	if err := g.serve(answer, r); err != nil {
		c.outcome = connect.CodeInternal.String()
		if answer.status != 0 {
			panic(http.ErrAbortHandler) // a part of the answer is on its way: the client must not take it for all
		}
		g.refuse(answer, r, err)
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
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if c.grant, err = g.guard.Who(r.Context(), token, r.RemoteAddr); err != nil {
			return nil, err
		}
	}
	return g.guard.Begin(c.grant)
}

// compressed reports whether the body of a request is compressed, in the header of any protocol.
func compressed(r *http.Request) bool {
	for _, name := range []string{"Content-Encoding", "Connect-Content-Encoding", "Grpc-Encoding"} {
		for _, encoding := range r.Header[name] {
			if encoding != "" && encoding != "identity" {
				return true
			}
		}
	}
	return false
}

// statusBody is a body whose errors are statuses, so that Connect passes them on as they are.
type statusBody struct {
	*access.Body
	ctx context.Context
}

func (b statusBody) Read(p []byte) (int, error) {
	n, err := b.Body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, access.ErrBroken) {
		err = failure(b.ctx, err)
		callerOf(b.ctx).outcome = connect.CodeOf(err).String() // no method is reached, and a status of HTTP says less
	}
	return n, err
}

// fromHere reports whether a request is none that a web page made a browser send. No page reaches a Unix socket; on a
// loopback address one that made its own name point here would.
func (g *gate) fromHere(r *http.Request) bool {
	return g.local || !access.Foreign(r, g.loopback)
}

// refuse answers in the protocol that the request came in. Connect, gRPC and gRPC-Web each have a form for errors; a
// plain HTTP request, such as one for metrics, gets the text and a status that is close to the code, which is returned.
func (g *gate) refuse(w http.ResponseWriter, r *http.Request, err error) connect.Code {
	err = failure(r.Context(), err)
	code := connect.CodeOf(err)
	if g.refusals.IsSupported(r) {
		_ = g.refusals.Write(w, r, err) // the connection may be gone
		return code
	}
	status := http.StatusForbidden
	switch code {
	case connect.CodeUnauthenticated:
		status = http.StatusUnauthorized
	case connect.CodeUnimplemented:
		status = http.StatusUnsupportedMediaType
	case connect.CodeUnavailable, connect.CodeInternal:
		status = http.StatusServiceUnavailable
	case connect.CodeResourceExhausted:
		status = http.StatusTooManyRequests
	}
	http.Error(w, err.Error(), status)
	return code
}
