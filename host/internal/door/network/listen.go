package network

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Addresses. Who can reach one decides what is demanded of clients: nothing on a Unix socket of the user, a token on
// a loopback address, TLS and a token everywhere else.

// address says what the place where a server listens means for who can reach it. The zero value is an address that
// anyone may reach.
type address struct {
	unix     bool // a Unix socket, which only the user can open
	loopback bool // only this machine
}

// Listen opens the address of the setting serve.listen: HOST:PORT, or unix:PATH. The file of a socket is private (mode
// 0600); one that a host left behind is replaced, one that is in use is not. Port 0 is a free port, which [URL] then
// tells. All errors name the setting.
func Listen(where string) (net.Listener, error) {
	at, err := ParseAddress(where)
	if err != nil {
		return nil, err
	}
	if _, unix := at.(*net.UnixAddr); unix {
		return listenUnix(at.String())
	}
	l, err := net.Listen("tcp", where)
	if err != nil {
		return nil, fmt.Errorf("serve.listen: %w", err)
	}
	return l, nil
}

// ParseAddress reads the setting serve.listen. A name is looked up.
func ParseAddress(where string) (net.Addr, error) {
	if path, unix := strings.CutPrefix(where, "unix:"); unix {
		// A relative path would depend on the directory in which the host was started, which clients do not know.
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("serve.listen: unix:%s: the path must begin with /", path)
		}
		return &net.UnixAddr{Name: path, Net: "unix"}, nil
	}
	at, err := net.ResolveTCPAddr("tcp", where)
	if err != nil {
		return nil, fmt.Errorf("serve.listen: %w; want HOST:PORT, such as 127.0.0.1:7440, or unix:PATH", err)
	}
	return at, nil
}

// listenUnix opens a socket that only the user can connect to. A file that is no socket, and a socket that is in use,
// are never removed.
func listenUnix(path string) (net.Listener, error) {
	// Lstat and not Stat: a symbolic link must not lead to the removal of what it points to.
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("serve.listen: %s exists and is no socket", path)
		}
		switch err := dialUntilDead(path); {
		case err == nil:
			return nil, fmt.Errorf("serve.listen: %s is in use by another program", path)
		case errors.Is(err, syscall.ECONNREFUSED):
			_ = os.Remove(path) // left behind by a host that was killed
		}
	}
	// The socket gets its mode before anyone can connect: it is made in a private directory and moved.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".s")
	if err != nil {
		return nil, fmt.Errorf("serve.listen: %w", err)
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s")
	l, err := net.Listen("unix", made)
	if err != nil {
		return nil, fmt.Errorf("serve.listen: %w", err)
	}
	// It would remove the path at which it was made, which is gone by then.
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, path)); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("serve.listen: %w", err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("serve.listen: %w", err)
	}
	return &unixListener{Listener: l, path: path, made: info}, nil
}

// dyingTime is how long the socket of a host that was killed may still take connections: a process that the host was
// just starting holds it until it becomes its own program.
const dyingTime = time.Second

// dialUntilDead connects to a socket again and again, and returns why that failed. If it still works after dyingTime,
// another program serves there, and the error is nil.
func dialUntilDead(path string) error {
	for start := time.Now(); ; time.Sleep(dyingTime / 20) {
		c, err := net.Dial("unix", path)
		if err != nil {
			return err
		}
		_ = c.Close()
		if time.Since(start) > dyingTime {
			return nil
		}
	}
}

// unixListener knows where its socket was moved to. Go's own listener keeps the path that it was opened with.
type unixListener struct {
	net.Listener
	path string
	made fs.FileInfo
	once sync.Once
}

func (l *unixListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// Close removes the file too, so that the next host need not find out whether it is in use. Once: a later call would
// remove the socket that the next host has made, perhaps with the same inode, while this one finishes its requests.
func (l *unixListener) Close() error {
	l.once.Do(func() {
		if now, err := os.Lstat(l.path); err == nil && os.SameFile(now, l.made) {
			_ = os.Remove(l.path)
		}
	})
	return l.Listener.Close()
}

// addressOf says what the address of a listener means, which may have been opened by someone else (systemd). An address
// of another kind is one that anyone may reach.
func addressOf(at net.Addr) address {
	switch a := at.(type) {
	case *net.UnixAddr:
		return address{unix: true}
	case *net.TCPAddr:
		return address{loopback: a.IP.IsLoopback()}
	}
	return address{}
}

// Local reports whether only this machine, or only the user, can reach an address; and whether it is a Unix socket.
func Local(addr net.Addr) (local, unix bool) {
	at := addressOf(addr)
	return at.loopback || at.unix, at.unix
}

// URL is where clients find a listener. It is the address as the client package takes it.
func URL(l net.Listener, tls bool) string {
	switch {
	case addressOf(l.Addr()).unix:
		return "unix:" + l.Addr().String()
	case tls:
		return "https://" + l.Addr().String()
	}
	return "http://" + l.Addr().String()
}
