//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// sd_notify(3) and sd_listen_fds(3), without systemd's library.

const firstFD = 3

// inheritedListener returns the socket that systemd opened for this process; nil if it passed none. The variables are
// meant for the process with the id in LISTEN_PID: a child of it inherits them, but not the sockets. The error is for
// more than one socket, or a descriptor that is no listening socket.
func inheritedListener(getenv func(string) string) (net.Listener, error) {
	count, _ := strconv.Atoi(getenv("LISTEN_FDS"))
	if pid, err := strconv.Atoi(getenv("LISTEN_PID")); err != nil || pid != os.Getpid() || count == 0 {
		return nil, nil
	}
	if count > 1 {
		return nil, fmt.Errorf("systemd passed %d sockets; the socket unit must have one", count)
	}
	// systemd passes it without the flag, and plugins must not inherit it.
	unix.CloseOnExec(firstFD)
	f := os.NewFile(firstFD, "systemd's socket")
	defer f.Close()
	l, err := net.FileListener(f) // has a descriptor of its own
	if err != nil {
		return nil, fmt.Errorf("systemd's socket: %w", err)
	}
	return l, nil
}

// notify tells systemd of a change of state, if it is there; an error has no one to tell. It sends a datagram to the
// socket that NOTIFY_SOCKET names; a leading @ is an abstract one, which package net understands.
func (p place) notify(state string) {
	name := p.getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = c.Write([]byte(state))
}

// monotonic is when the reload began, by systemd's clock, as RELOADING=1 needs it.
func monotonic() string {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return "MONOTONIC_USEC=" + strconv.FormatInt(t.Nano()/1000, 10)
}
