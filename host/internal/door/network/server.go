package network

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// The end of a service is the hard part: new requests are refused while those in progress finish, watches end at
// once, and what is not done in time is cancelled.

// Bounds of connections. Requests themselves have none but those of their contexts: a turn may take minutes.
const (
	// A client that sends its header slowly would hold a connection.
	headerTimeout = 10 * time.Second
	idleTimeout   = 5 * time.Minute
	maxHeader     = 64 << 10 // bytes
	maxStreams    = 1000     // requests at one time on one HTTP/2 connection
)

// Certificate is what a server shows. Another one may be stored while it serves. The nil Certificate is none.
type Certificate = atomic.Pointer[tls.Certificate]

// Serve serves a listener until ctx ends, and ends as [Run] does. Watches end at once, as they never end by themselves.
func Serve(ctx context.Context, l net.Listener, certificate *Certificate, drain time.Duration, o Options) error {
	ending := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { close(ending) })
	defer stop()

	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true) // for clients that make many requests at a time
	return Run(ctx, &http.Server{
		Handler:           newHandler(o, addressOf(l.Addr()), ending),
		Protocols:         protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		// Errors of clients are theirs: one that hangs up does no harm.
		ErrorLog: o.Log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}, l, certificate, drain, o.Log)
}

// Run runs an HTTP server on a listener until ctx ends. Then it takes no more requests, and gives those in progress the
// time drain; what is left is cancelled. certificate is nil without TLS. The listener is closed. It returns nil after
// such an end, and the listener's error if that breaks before.
func Run(ctx context.Context, server *http.Server, l net.Listener, certificate *Certificate, drain time.Duration,
	log hclog.Logger) error {
	// Requests outlive ctx by the time drain, so that their context must not be ctx itself.
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server.BaseContext = func(net.Listener) context.Context { return requests }
	l = bound(l, log)
	refuseOn(server)
	served := make(chan error, 1)
	go func() {
		if certificate != nil {
			server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12,
				GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate.Load(), nil }}
			served <- server.ServeTLS(l, "", "")
			return
		}
		served <- server.Serve(l)
	}()
	select {
	case err := <-served: // the listener broke
		return err
	case <-ctx.Done():
	}
	// ctx is done already, so that the drain needs a context of its own.
	limit, stop := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer stop()
	if err := server.Shutdown(limit); err != nil {
		log.Warn("requests in progress are cancelled: serve.drain is over", "at", l.Addr(), "drain", drain)
		cancel()
		_ = server.Close()
	}
	// Shutdown and Close make Serve return; ErrServerClosed is that regular end.
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
