package client

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"
)

const (
	// handshakeTimeout is how long a connection from a plugin may take to become HTTP/2. gRPC allows 120 s.
	handshakeTimeout = 5 * time.Second
	// maxConnections is how many connections a plugin may have open to the host. It needs one, and another while that
	// one breaks; opening them in a loop would take the host's descriptors.
	maxConnections = 2
)

// connections is a listener that can close everything it accepted. gRPC's Server.Stop waits for connections in their
// HTTP/2 handshake, so a plugin that connects and sends nothing would hold up the end of the host.
type connections struct {
	net.Listener
	bounds *bounds

	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

func newConnections(l net.Listener, b *bounds) *connections {
	return &connections{Listener: l, bounds: b, open: map[net.Conn]struct{}{}}
}

// Accept closes connections above maxConnections; gRPC in the plugin tries again.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if tracked := c.track(conn); tracked != nil {
			return tracked, nil
		}
		_ = conn.Close()
	}
}

// track returns nil if there are too many connections, or the listener is closed.
func (c *connections) track(conn net.Conn) net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	// A connection may be accepted while closeAll runs.
	if c.closed || len(c.open) >= maxConnections {
		return nil
	}
	c.open[conn] = struct{}{}
	return &trackedConn{Conn: conn, of: c, frames: frames{of: c.bounds}}
}

// cutOff reports whether the plugin has no connection and cannot make one: its socket was removed.
func (c *connections) cutOff() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Addr().Network() != "unix" {
		return false
	}
	_, err := os.Lstat(c.Addr().String())
	return len(c.open) == 0 && errors.Is(err, fs.ErrNotExist)
}

func (c *connections) closeAll() {
	_ = c.Listener.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.open {
		_ = conn.Close()
	}
}

type trackedConn struct {
	net.Conn
	of     *connections
	frames frames
}

// Read runs on one goroutine, as [frames] demands.
func (t *trackedConn) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	t.frames.read(b[:n])
	return n, err
}

// Close may be called more than once, by gRPC and by closeAll.
func (t *trackedConn) Close() error {
	t.of.mu.Lock()
	delete(t.of.open, t.Conn)
	t.of.mu.Unlock()
	return t.Conn.Close()
}
