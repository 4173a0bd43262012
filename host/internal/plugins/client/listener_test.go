package client

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
)

// A plugin that connects and says nothing must not hold up the end of the host: gRPC would wait for its handshake.
func TestASilentConnectionDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	r := remote{server: grpc.NewServer(grpc.ConnectionTimeout(time.Hour)),
		accepted: newConnections(listener, newBounds(func(error) {}))}
	served := make(chan error, 1)
	go func() { served <- r.server.Serve(r.accepted) }()

	silent := make([]net.Conn, 2*maxConnections)
	for i := range silent {
		if silent[i], err = net.Dial("unix", path); err != nil {
			t.Fatal(err)
		}
		defer silent[i].Close()
	}
	// The server writes its settings to a connection that it took, and closes those that are too many: reading shows
	// which.
	refused := 0
	for _, conn := range silent[maxConnections:] {
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			refused++
		}
	}
	if refused != maxConnections {
		t.Errorf("%d connections above the bound were refused, want %d", refused, maxConnections)
	}

	stopped := make(chan struct{})
	go func() { r.stop(); close(stopped) }()
	select {
	case <-stopped:
	case <-time.After(time.Minute):
		t.Fatal("stop waits for a connection in its handshake")
	}
	<-served
}
