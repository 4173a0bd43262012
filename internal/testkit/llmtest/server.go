package llmtest

import (
	"net"
	"net/http"
	"sync"
)

// Server is a [Handler] that listens.
type Server struct {
	*Handler
	// URL is the address without a path, such as "http://127.0.0.1:41234".
	URL string

	server *http.Server
	served chan struct{}
	close  sync.Once
}

// TB is what [New] needs of a test.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// New starts a server on a port of its own, which ends with the test.
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
		_ = s.server.Serve(listener) // It always ends with ErrServerClosed.
	}()
	t.Cleanup(s.Close)
	return s
}

// BaseURL is what a client of a kind calls its base URL: with /v1 for "openai", without for "anthropic".
func (s *Server) BaseURL(kind string) string {
	if kind == "openai" {
		return s.URL + "/v1"
	}
	return s.URL
}

// Close cuts all connections and waits until the server is done. It may be called more than once.
func (s *Server) Close() {
	s.close.Do(func() {
		_ = s.server.Close()
		<-s.served
		s.running.Wait()
	})
}
