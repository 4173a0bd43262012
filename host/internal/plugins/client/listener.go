package client

import (
	"net"
	"sync"
	"time"
)

const (
	// handshakeTimeout is how long a connection from a plugin may take to become an HTTP/2 connection. gRPC allows 120
	// s.
	handshakeTimeout = 5 * time.Second
	// maxConnections is how many connections a plugin may have open to the host at a time. It needs one, and another
	// while that one breaks. A process that opens connections in a loop would take the host's descriptors.
	maxConnections = 2
)

// connections is a listener that knows what it accepted, so that everything can be closed at once.
//
// gRPC's Server.Stop waits for connections that are still in their HTTP/2 handshake. A plugin that connects and sends
// nothing would hold up the end of the host for as long as the handshake may take. Closed under it, such a connection
// ends at once.
type connections struct {
	net.Listener
	bounds *bounds

	// mu guards open and closed.
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

// newConnections tracks what l accepts; bytes and requests are counted in b.
func newConnections(l net.Listener, b *bounds) *connections {
	return &connections{Listener: l, bounds: b, open: map[net.Conn]struct{}{}}
}

// Accept returns the next connection. More than maxConnections at a time are closed as they come.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		// Refused connections are closed without a word; gRPC in the plugin tries again.
		if tracked := c.track(conn); tracked != nil {
			return tracked, nil
		}
		_ = conn.Close()
	}
}

// track remembers a connection; nil if there are too many, or the listener is closed.
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

// closeAll closes the listener and every connection. Requests that are under way fail.
func (c *connections) closeAll() {
	_ = c.Listener.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.open {
		_ = conn.Close()
	}
}

// trackedConn is forgotten when it is closed, and counts what it reads.
type trackedConn struct {
	net.Conn
	of     *connections
	frames frames
}

// Read counts what arrives. gRPC reads a connection on one goroutine, as [frames] demands.
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
