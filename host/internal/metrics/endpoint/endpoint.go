package endpoint

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/thresh-dev/thresh/host/internal/access"
)

// Limits of one scrape. A scrape reads a few kilobytes, so a client that needs longer is not a scraper.
const (
	readTimeout  = 5 * time.Second
	writeTimeout = 10 * time.Second
	idleTimeout  = 2 * time.Minute // scrapers keep their connection open between scrapes
	maxHeader    = 16 << 10        // bytes
	maxAtOnce    = 4               // scrapes
	stopTimeout  = time.Second
)

// Path is where measurements are served.
const Path = "/metrics"

type Options struct {
	// Version is the host's, for target_info.
	Version string
	// Log receives errors of connections; nil for nowhere.
	Log *log.Logger
	// Getenv reads the environment, in which OpenTelemetry's variables may name a collector; nil to export nothing.
	Getenv func(string) string
}

// Endpoint is a meter provider, and shows its measurements: as a handler, or on an HTTP server of its own. Close it.
type Endpoint struct {
	provider *sdkmetric.MeterProvider
	handler  http.Handler

	// Of an endpoint that listens; nil otherwise.
	listener net.Listener
	server   *http.Server
	served   chan error // what Serve returned
}

// New makes an endpoint without a server, for a program that has one.
func New(o Options) (*Endpoint, error) {
	registry := prometheus.NewRegistry()
	// Goroutines, memory, descriptors: what leaks shows there.
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo())
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", err)
	}
	// What the SDK would detect by itself describes the machine and its user.
	about := []resource.Option{resource.WithAttributes(
		attribute.String("service.name", "thresh"), attribute.String("service.version", o.Version),
	)}
	options := []sdkmetric.Option{sdkmetric.WithReader(exporter), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter)}
	if o.Getenv != nil && Exported(o.Getenv) {
		reader, err := newReader(o)
		if err != nil {
			return nil, err
		}
		options, about = append(options, sdkmetric.WithReader(reader)), append(about, resource.WithFromEnv())
	}
	is, err := resource.New(context.Background(), about...)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return &Endpoint{
		provider: sdkmetric.NewMeterProvider(append(options, sdkmetric.WithResource(is))...),
		handler: promhttp.HandlerFor(registry,
			promhttp.HandlerOpts{ErrorLog: o.Log, MaxRequestsInFlight: maxAtOnce}),
	}, nil
}

// Listen serves measurements at an address, for example 127.0.0.1:9464; port 0 picks a free one. An address without
// a host listens on all interfaces. The error says what is wrong with the address, or that it is in use.
func Listen(address string, o Options) (*Endpoint, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("serve metrics: %w; want host:port, such as 127.0.0.1:9464", err)
	}
	e, err := New(o)
	if err != nil {
		return nil, err
	}
	if e.listener, err = net.Listen("tcp", address); err != nil {
		return nil, errors.Join(fmt.Errorf("serve metrics: %w", err), e.provider.Shutdown(context.Background()))
	}
	mux := http.NewServeMux()
	at, _ := e.listener.Addr().(*net.TCPAddr)
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, r *http.Request) {
		if access.Foreign(r, at != nil && at.IP.IsLoopback()) {
			http.Error(w, "requests from web pages are refused", http.StatusForbidden)
			return
		}
		e.handler.ServeHTTP(w, r)
	})
	e.served = make(chan error, 1)
	e.server = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			access.Unread(w, r)
			mux.ServeHTTP(w, r)
		}),
		ErrorLog: o.Log, MaxHeaderBytes: maxHeader,
		ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
	}
	go func() { e.served <- e.server.Serve(e.listener) }()
	return e, nil
}

func (e *Endpoint) Handler() http.Handler { return e.handler }

func (e *Endpoint) Meter() metric.MeterProvider { return e.provider }

// URL returns where an endpoint that listens serves measurements, with the actual port.
func (e *Endpoint) URL() string { return "http://" + e.listener.Addr().String() + Path }

// Close stops serving and exports what was not yet. A scrape in progress and the collector get a second to finish.
func (e *Endpoint) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if e.server == nil {
		return e.provider.Shutdown(ctx)
	}
	if err := e.server.Shutdown(ctx); err != nil {
		_ = e.server.Close() // a slow reader is cut off
	}
	err := <-e.served
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, e.provider.Shutdown(ctx))
}
