package llmtest

import (
	"net"
	"net/http"
	"sync"
)

// Server is a [Handler] with a listener. The address is on the loopback interface alone, so that no firewall asks.
type Server struct {
	*Handler
	// URL is the address without a path, for example "http://127.0.0.1:41234".
	URL string

	server *http.Server
	// served is closed when the listener's goroutine has ended.
	served chan struct{}
	close  sync.Once
}

// TB is the part of testing.TB that [New] needs, so that this package does not import testing into the example
// server.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// New starts a server on a free port of the loopback interface. It stops when the test ends.
func New(t TB, o Options) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("llmtest: %v", err)
	}
	h := NewHandler(o)
	s := &Server{Handler: h, URL: "http://" + listener.Addr().String(), server: &http.Server{Handler: h},
		served: make(chan struct{})}
	go func() {
		defer close(s.served)
		_ = s.server.Serve(listener) // always ErrServerClosed
	}()
	t.Cleanup(s.Close)
	return s
}

// BaseURL is the base URL as a client of a kind expects it: with /v1 for "openai", without for "anthropic".
func (s *Server) BaseURL(kind string) string {
	if kind == "openai" {
		return s.URL + "/v1"
	}
	return s.URL
}

// Close breaks all connections and waits until every request has ended. It may be called more than once. After it no
// handler runs any more, so that a test may read what they wrote.
func (s *Server) Close() {
	s.close.Do(func() {
		_ = s.server.Close()
		<-s.served
		s.running.Wait()
	})
}
