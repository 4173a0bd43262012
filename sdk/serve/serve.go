package serve

import (
	"errors"
	"github.com/thresh-dev/thresh/sdk"
	"io"
	"log/slog"
	"os"
	"os/signal"

	hclog "github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"context"

	"github.com/thresh-dev/thresh/internal/wire"
)

const (
	exitDone   = 0
	exitFailed = 1 // started by hand, or the socket could not be opened
	exitBad    = 2 // the strategy or the start is wrong: only another binary will help
)

// Strategy serves a strategy to the host that started this process, and ends the process when the host is done with it
// or gone. It is all that a strategy's main does.
//
// If [sdk.Check] refuses a strategy, the reasons are printed on stderr and the process exits with 2. Started by hand, the
// process says what it is and exits with 1; with --describe it prints what the strategy declares, as JSON; with
// --attach it waits for a host that is told to use this very process, for a debugger.
func Strategy(s sdk.Strategy) { os.Exit(serve(s, os.Args, os.Stdout, os.Stderr)) }

func serve(s sdk.Strategy, args []string, stdout, stderr io.Writer) int {
	if err := sdk.Check(s); err != nil {
		printBad(stderr, args, err)
		return exitBad
	}
	if len(args) == 2 && args[1] == attachFlag {
		return serveAttached(s, stdout, stderr)
	}
	if len(args) > 1 || os.Getenv(wire.CookieKey) != wire.CookieValue {
		return byHand(s.Info(), args, stdout, stderr)
	}
	return serveHost(s, stderr)
}

// serveHost serves until the host shuts the plugin down, ends it with SIGTERM, or is gone.
func serveHost(s sdk.Strategy, stderr io.Writer) int {
	signal.Ignore(os.Interrupt) // Ctrl-C reaches the whole process group; the host decides what it means
	handler := newLogHandler(stderr)
	log := slog.New(handler)
	stop, err := watchEnd(log)
	if err != nil {
		log.Error("cannot start", "error", err)
		return exitBad
	}
	info, err := wire.ToInfo(s.Info(), sdkName())
	if err != nil {
		log.Error("cannot start", "error", err)
		return exitBad
	}
	svc := &service{strategy: s, info: info, log: log, setLevel: handler.out.level.Set, replace: stop.soon}
	served := false
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: wire.Handshake(),
		Plugins:         plugin.PluginSet{wire.PluginName: &grpcPlugin{svc: svc}},
		Logger:          hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: stderr, JSONFormat: true}),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			served = true
			server := grpc.NewServer(append(opts, serverOptions(log)...)...)
			stop.stops(server)
			return server
		},
	})
	if !served { // go-plugin said why, in the log
		return exitFailed
	}
	return exitDone
}

type grpcPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	svc *service
}

var _ plugin.GRPCPlugin = (*grpcPlugin)(nil)

// GRPCServer registers the strategy's service.
func (p *grpcPlugin) GRPCServer(broker *plugin.GRPCBroker, server *grpc.Server) error {
	p.svc.broker = broker
	threshv1.RegisterStrategyServiceServer(server, p.svc)
	return nil
}

// GRPCClient is the host's side, which is not here.
func (p *grpcPlugin) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("package sdk is the plugin's side only")
}
