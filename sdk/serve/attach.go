package serve

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	hclog "github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk"
)

// attachFlag makes a plugin started by hand wait for a host that is told to use it. It is for debugging: the host does
// not verify, isolate or end such a process, and waits for its answers without a timeout.
const attachFlag = "--attach"

// serveAttached serves one host until that host is gone, or the process is interrupted, and returns the exit code. It
// prints the flag for the host on stdout and everything else on stderr, so scripts can capture the flag.
func serveAttached(s sdk.Strategy, stdout, stderr io.Writer) int {
	fail := func(err error) int {
		_, _ = fmt.Fprintln(stderr, "thresh:", err)
		return exitFailed
	}
	info, err := wire.ToInfo(s.Info(), sdkName())
	if err != nil {
		return fail(err)
	}
	dir, err := os.MkdirTemp("", "thresh-attach-") // mode 0700: only this user can connect
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv(plugin.EnvUnixSocketDir, dir); err != nil {
		return fail(err)
	}
	// Where the host finds it: the socket, or a file in the same directory.
	at := func(a *plugin.ReattachConfig) (string, error) { return a.Addr.String(), nil }
	var proof func() (*tls.Config, error)
	if runtime.GOOS == "windows" {
		identity, err := wire.NewIdentity()
		if err != nil {
			return fail(err)
		}
		proof = func() (*tls.Config, error) { return wire.TLS(identity) }
		at = func(a *plugin.ReattachConfig) (string, error) {
			file := filepath.Join(dir, "plugin")
			return file, wire.WriteLoopback(file, a.Addr.String(), identity)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	var level slog.LevelVar
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: &level}))
	svc := &service{strategy: s, info: info, log: log, setLevel: level.Set}
	address, done := make(chan *plugin.ReattachConfig, 1), make(chan struct{})
	go func() {
		defer close(done)
		plugin.Serve(&plugin.ServeConfig{
			HandshakeConfig: wire.Handshake(),
			Plugins:         plugin.PluginSet{wire.PluginName: &grpcPlugin{svc: svc}},
			Logger:          hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: stderr}),
			GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
				return grpc.NewServer(
					append(append(opts, serverOptions(log)...), grpc.StatsHandler(hostWatch{stop}))...)
			},
			TLSProvider: proof,
			Test:        &plugin.ServeTestConfig{Context: ctx, ReattachConfigCh: address},
		})
	}()
	select {
	case a := <-address:
		where, err := at(a)
		if err != nil {
			return fail(err)
		}
		_, _ = fmt.Fprintf(
			stderr,
			"%s waits for a host. Give one this flag, as in: thresh plugins try %s=… session.json\n"+
				"The host does not verify, isolate or end this process, and its calls have no timeout. "+
				"It serves one host. Ctrl-C ends it.\n\n",
			s.Info().Name,
			attachFlag,
		)
		_, _ = fmt.Fprintf(stdout, "%s=%s=%s\n", attachFlag, s.Info().Name, where)
	case <-done: // go-plugin said why
		return exitFailed
	}
	<-done
	return exitDone
}

// hostWatch calls gone when a host's connection ends: an attached process has no lifeline.
type hostWatch struct{ gone func() }

var _ stats.Handler = hostWatch{}

// HandleConn implements stats.Handler.
func (w hostWatch) HandleConn(_ context.Context, s stats.ConnStats) {
	if _, over := s.(*stats.ConnEnd); over {
		w.gone()
	}
}

// HandleRPC implements stats.Handler.
func (hostWatch) HandleRPC(context.Context, stats.RPCStats) {}

// TagConn implements stats.Handler.
func (hostWatch) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// TagRPC implements stats.Handler.
func (hostWatch) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }
