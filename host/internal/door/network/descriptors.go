package network

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
)

// A connection takes one of the process's descriptors (ulimit -n). If connections took them all, no new one could be
// accepted, not even to be refused, and neither the store nor a plugin nor a provider could be reached for those that
// are there. So connections leave some free.

const (
	// The last quarter of the descriptors is reserved, and no less than reservedLeast, or half: a plugin needs 16 when it
	// starts, the store as many when it connects again, and each request to a provider one.
	reservedLeast = 48
	// toldEvery is how often the log says that connections are refused.
	toldEvery = time.Minute
)

// bounded is a listener that leaves descriptors to the host. A connection that gets one of the first quarter of those
// that are reserved is told so; from then on they are closed at once.
type bounded struct {
	net.Listener
	limit, reserved uint64
	log             hclog.Logger

	mu      sync.Mutex
	told    time.Time
	refused int // since told
}

func bound(l net.Listener, log hclog.Logger) net.Listener {
	most, ok := descriptorLimit()
	if !ok {
		return l
	}
	return &bounded{Listener: l, limit: most, reserved: max(most/4, min(most/2, reservedLeast)), log: log}
}

func (l *bounded) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
				l.refuse()
			}
			return nil, err // the server tries again, up to a second later
		}
		// The kernel gives the lowest number that is free, which so tells how many are in use.
		used := descriptorOf(c)
		if used+l.reserved < l.limit {
			return c, nil
		}
		l.refuse()
		if used+l.reserved*3/4 < l.limit {
			return refused{c}, nil
		}
		_ = c.Close()
	}
}

func (l *bounded) refuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused++
	if time.Since(l.told) < toldEvery {
		return
	}
	l.log.Warn("connections are refused: this process may open too few files (ulimit -n, LimitNOFILE= of systemd)",
		"limit", l.limit, "reserved", l.reserved, "refused", l.refused, "at", l.Addr())
	l.told, l.refused = time.Now(), 0
}

// descriptorOf returns the number of a connection's descriptor; 0 if it has none.
func descriptorOf(c net.Conn) (number uint64) {
	if s, ok := c.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { number = uint64(fd) })
		}
	}
	return number
}

type refused struct{ net.Conn }

type refusedKey struct{}

// refuseOn has a server answer requests on refused connections with the status 503, and then close them. Whether the
// host lives can still be asked.
func refuseOn(server *http.Server) {
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if t, ok := c.(*tls.Conn); ok {
			c = t.NetConn()
		}
		if _, ok := c.(refused); ok {
			return context.WithValue(ctx, refusedKey{}, true)
		}
		return ctx
	}
	next := server.Handler
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(refusedKey{}) == nil {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close")
		if r.URL.Path == "/healthz" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Retry-After", "1")
		http.Error(w, "thresh has too many connections, try again later", http.StatusServiceUnavailable)
	})
}
