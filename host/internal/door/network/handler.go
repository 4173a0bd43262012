package network

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/metrics"
	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// Path is where methods are served, by their names.
const Path = "/v1/"

// maxRequest bounds one request, in bytes: as for JSON-RPC, far above any request of an agent.
const maxRequest = 256 << 20

// Options of a server. Host, Guard, Store, Alone and Log are required.
type Options struct {
	Host  *host.Host
	Guard *access.Guard
	// Store is where the host keeps sessions.
	Store store.Store
	// Alone makes messages small that come without a session. It has the same clients.
	Alone *proxy.Server
	// Ready returns why requests would fail now, for /readyz; nil if they would not. Nil is always.
	Ready func(context.Context) error
	// Recall serves [mcp.Path], where an agent gets back what was removed from the session that it names.
	Recall bool
	// Watch is told of turns, and serves the page and its data; nil if there is none.
	Watch *watch.Recorder
	// Metrics serves measurements; nil if there are none.
	Metrics http.Handler
	// Requests measures requests; nil if nothing does.
	Requests *metrics.Requests
	Log      hclog.Logger
}

// route is where something is served, as [http.ServeMux] takes it. An open one needs no token.
type route struct {
	pattern string
	handler http.Handler
	open    bool
}

// newHandler puts together what is served at an address of a kind. When ending is closed, watches end and new requests
// are refused. The gate is around all of it.
func newHandler(o Options, at address, ending <-chan struct{}) http.Handler {
	mux, open := http.NewServeMux(), map[string]bool{}
	for _, r := range routes(o, at, ending) {
		mux.Handle(r.pattern, r.handler)
		if r.open {
			open[strings.TrimPrefix(r.pattern, "GET ")] = true
		}
	}
	return &gate{
		next: mux, host: o.Host, guard: o.Guard, local: at.unix, loopback: at.loopback, open: open,
		ending: ending, log: o.Log, requests: o.Requests,
	}
}

func routes(o Options, at address, ending <-chan struct{}) []route {
	s := service.New(o.Host)
	var all []route
	add := func(pattern string, h http.Handler) { all = append(all, route{pattern, h, false}) }
	toAll := func(pattern string, h http.HandlerFunc) { all = append(all, route{pattern, h, true}) }
	methods := &calls{service: s, host: o.Host, guard: o.Guard, alone: o.Alone, log: o.Log, ending: ending,
		plain: at.unix || at.loopback}
	for _, m := range service.At(api.Served) {
		add("POST "+Path+m.Name, methods.handler(m))
	}
	for _, route := range service.Gateway() {
		add(route.Verb+" "+route.Path, methods.gateway(route))
	}
	add(Path, http.HandlerFunc(noMethod))
	add("GET "+Path+"openapi.json", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(service.OpenAPI)
	}))
	ready := &readiness{ending: ending, log: o.Log}
	if o.Ready != nil {
		ready.ask = func(ctx context.Context) (err error) {
			defer o.Host.Guard("ready", &err)
			return o.Ready(ctx)
		}
	}
	o.Requests.Ready(func() bool { return ready.problem() == "" })
	// Alive is not ready: an orchestrator must not kill a host that is finishing its requests.
	toAll("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	toAll("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if problem := ready.problem(); problem != "" {
			http.Error(w, problem, http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	})
	// Behind the gate, because metrics name plugins and strategies.
	if o.Metrics != nil {
		add("GET /metrics", o.Metrics)
	}
	if o.Watch != nil {
		pages := o.Watch.Handler(func(r *http.Request) watch.Viewer {
			name := callerOf(r.Context()).grant.Name
			return watch.Viewer{Owner: name, All: name == ""} // the local user can read the store
		})
		toAll("GET "+watch.Page, pages.ServeHTTP)
		add("GET "+watch.Page+"/", pages)
	}
	if o.Recall {
		taxonomy, _ := window.Taxonomy(o.Host.Config().Settings()) // the host has read these settings already
		add(mcp.Path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			key := store.Key{Owner: callerOf(r.Context()).grant.Name, ID: mcp.Session(w, r)}
			if key.ID == "" {
				return
			}
			(&mcp.Server{Recall: mcp.Stored(o.Store, key, taxonomy), Panicked: func(p any) error {
				return o.Host.Panicked("mcp", p)
			}}).ServeHTTP(w, r)
		}))
	}
	return all
}

func ended(ending <-chan struct{}) bool {
	select {
	case <-ending:
		return true
	default:
		return false
	}
}

// noMethod answers what is below Path and no method of it.
func noMethod(w http.ResponseWriter, r *http.Request) {
	m, err := service.Find(api.Served, strings.TrimPrefix(r.URL.Path, Path))
	if err == nil {
		w.Header().Set("Allow", http.MethodPost)
		refused := api.Refuse("", "%s is called by POST, with a JSON object", m.Name)
		refused.Status = http.StatusMethodNotAllowed
		err = refused
	}
	refuse(r.Context(), w, err)
}
