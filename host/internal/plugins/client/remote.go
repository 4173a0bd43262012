package client

import (
	"context"

	"google.golang.org/grpc"

	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

// remote is the protocol's two services on one connection: the plugin's, which the host calls, and the host's, which
// the plugin calls. With services.go it is the only place in this package that knows generated protobuf. It belongs to
// one process and ends with it.
type remote struct {
	strategy threshv1.StrategyServiceClient
	services *hostServices
	server   *grpc.Server // serves services; nil before serve
	accepted *connections // what server listens on; nil before serve
}

// protoInfo is an answer to GetInfo as it arrived, before any conversion.
type protoInfo = *threshv1.GetInfoResponse

// newRemote returns the services for a process that has completed the handshake. maxHostCalls bounds how many requests
// it may make during one Compress. kill is called on a goroutine of its own if it exceeds what no plugin needs; it is
// to end the process.
func newRemote(p *process.Process, maxHostCalls int, kill func(why error)) remote {
	return remote{
		strategy: threshv1.NewStrategyServiceClient(p.Conn()),
		services: newHostServices(maxHostCalls, newBounds(kill)),
	}
}

// getInfo also serves as a probe: the SDK answers it without involving the strategy, so a busy plugin answers too.
func (r *remote) getInfo(ctx context.Context, hostVersion string) (protoInfo, error) {
	return r.strategy.GetInfo(ctx, &threshv1.GetInfoRequest{HostVersion: hostVersion})
}

// configure sends the settings. INVALID_ARGUMENT means that the plugin refuses them.
func (r *remote) configure(ctx context.Context, c wire.Configuration) error {
	_, err := r.strategy.Configure(ctx, wire.ToConfigure(c))
	return err
}

// endSession tells the plugin that it may drop what it holds of a session.
func (r *remote) endSession(ctx context.Context, id string) error {
	_, err := r.strategy.EndSession(ctx, &threshv1.EndSessionRequest{SessionId: id})
	return err
}

// serve offers the host's services on the process's broker, under the returned id, until stop.
func (r *remote) serve(ctx context.Context, p *process.Process) (id uint32, err error) {
	id, listener, err := p.Accept(ctx)
	if err != nil {
		return 0, err
	}
	r.server = grpc.NewServer(r.services.bounds.serverOptions()...)
	r.accepted = newConnections(listener, r.services.bounds)
	threshv1.RegisterHostServiceServer(r.server, r.services)
	go func() { _ = r.server.Serve(r.accepted) }() // until stop, which also closes the listener
	return id, nil
}

// stop ends the host's services without waiting for the plugin. Running requests fail. Server.Stop alone would wait for
// connections that are still in their handshake, hence closeAll first.
func (r *remote) stop() {
	if r.server != nil {
		r.accepted.closeAll()
		r.server.Stop()
	}
}
