package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hashicorp/go-plugin/runner"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

var _ runner.Runner = (*child)(nil)

func (c *child) Wait(ctx context.Context) error {
	select {
	case <-c.exit.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Kill is called by go-plugin when it could not connect. A process that is about to crash gets a moment to do so: its
// own exit status explains more than SIGKILL.
func (c *child) Kill(context.Context) error {
	if !c.started() || c.gone(dyingTime) {
		return nil
	}
	return c.kill()
}

func (c *child) ID() string {
	switch {
	case c.binary.Attached:
		return c.binary.Path // go-plugin cleans up only after what has an id
	case c.cmd == nil:
		return ""
	}
	return strconv.Itoa(c.cmd.Process.Pid)
}

func (c *child) Name() string { return c.binary.Path }

// Stdout gives go-plugin only the handshake line: it stops at other lines.
func (c *child) Stdout() io.ReadCloser { return c.handshake.forGoPlugin() }

// Stderr is empty: this package reads and logs standard error.
func (c *child) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Diagnose adds nothing: this package builds its own errors.
func (c *child) Diagnose(context.Context) string { return "" }

// PluginToHost refuses addresses other than a socket in the plugin's run directory or a loopback port. A plugin could
// otherwise make the host, which is not sandboxed, connect to any service.
func (c *child) PluginToHost(network, address string) (string, string, error) {
	switch network {
	case "unix":
		if !sameDir(filepath.Dir(address), c.dir) {
			const elsewhere = "its socket %q is not in the directory that PLUGIN_UNIX_SOCKET_DIR names"
			return "", "", fmt.Errorf(elsewhere, address)
		}
		path, err := c.socket(filepath.Base(address))
		if err != nil {
			return "", "", fmt.Errorf("its socket %q: %w", address, err)
		}
		return network, path, nil
	case "tcp":
		host, _, err := net.SplitHostPort(address)
		if err == nil && net.ParseIP(host).IsLoopback() {
			return network, address, nil
		}
	}
	return "", "", fmt.Errorf("it listens on %s %q, not on a unix socket or the loopback address", network, address)
}

// errNoSocket refuses a file that a plugin printed as its socket. Through a link it could have the host talk to any
// program that listens somewhere.
var errNoSocket = errors.New("it is not a socket")

// sameDir follows symbolic links.
func sameDir(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// HostToPlugin returns where the plugin finds a socket that the host made in the run directory.
func (c *child) HostToPlugin(network, address string) (string, string, error) {
	if network == "unix" && isolate.OwnDisk(c.sandbox.Apply) {
		address = filepath.Join(filepath.Dir(address), isolate.HostDir, filepath.Base(address))
	}
	return network, address, nil
}
