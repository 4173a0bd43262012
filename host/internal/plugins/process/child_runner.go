package plugins

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hashicorp/go-plugin/runner"
)

var _ runner.Runner = (*child)(nil)

// Wait is for go-plugin, which takes its return for the end of the process.
func (c *child) Wait(ctx context.Context) error {
	select {
	case <-c.exited:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Kill is for go-plugin, which calls it when it could not make a connection.
func (c *child) Kill(context.Context) error {
	if !c.started() || c.gone(dyingTime) {
		return nil
	}
	return c.kill()
}

// ID is the process id, "" before the start.
func (c *child) ID() string {
	switch {
	case c.binary.attached:
		return c.path // go-plugin tidies up after nothing that has no name
	case c.cmd == nil:
		return ""
	}
	return strconv.Itoa(c.cmd.Process.Pid)
}

// Name is the binary's path.
func (c *child) Name() string { return c.path }

// Stdout gives go-plugin the handshake line and nothing else.
func (c *child) Stdout() io.ReadCloser { return c.handshake.forGoPlugin() }

// Stderr gives go-plugin nothing: what comes there is read and logged here.
func (c *child) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Diagnose adds nothing: the errors of this package are made from what the child knows.
func (c *child) Diagnose(context.Context) string { return "" }

// PluginToHost refuses addresses to which a plugin has no business to send the host.
func (c *child) PluginToHost(network, address string) (string, string, error) {
	switch network {
	case "unix":
		if sameDir(filepath.Dir(address), c.dir) {
			return network, address, nil
		}
		return "", "", fmt.Errorf("its socket %q is not in the directory that PLUGIN_UNIX_SOCKET_DIR names", address)
	case "tcp":
		host, _, err := net.SplitHostPort(address)
		if err == nil && net.ParseIP(host).IsLoopback() {
			return network, address, nil
		}
	}
	return "", "", fmt.Errorf("it listens on %s %q, not on a unix socket or the loopback address", network, address)
}

func sameDir(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// HostToPlugin changes nothing: both see the same files.
func (c *child) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
