package client

import (
	"context"

	"google.golang.org/grpc"

	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

// remote is the protocol's two services on one connection: the plugin's, which the host calls, and the host's. It ends
// with its process. Only it and services.go know generated protobuf.
type remote struct {
	strategy threshv1.StrategyServiceClient
	services *hostServices
	server   *grpc.Server // serves services; nil before serve
	accepted *connections // what server listens on; nil before serve
}

type protoInfo = *threshv1.GetInfoResponse

// newRemote needs a process that has completed the handshake. maxHostCalls bounds its requests during one Compress.
// kill must end the process; it runs on its own goroutine if the process exceeds what any plugin needs.
func newRemote(p *process.Process, maxHostCalls int, kill func(why error)) remote {
	return remote{
		strategy: threshv1.NewStrategyServiceClient(p.Conn()),
		services: newHostServices(maxHostCalls, newBounds(kill)),
	}
}

// getInfo also serves as a probe: the SDK answers it without the strategy, so a busy plugin answers too.
func (r *remote) getInfo(ctx context.Context, hostVersion string) (protoInfo, error) {
	return r.strategy.GetInfo(ctx, &threshv1.GetInfoRequest{HostVersion: hostVersion})
}

func (r *remote) configure(ctx context.Context, c wire.Configuration) error {
	_, err := r.strategy.Configure(ctx, wire.ToConfigure(c))
	return err
}

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
	options := r.services.bounds.serverOptions()
	if c := p.Credentials(); c != nil {
		options = append(options, grpc.Creds(c))
	}
	r.server = grpc.NewServer(options...)
	r.accepted = newConnections(listener, r.services.bounds)
	threshv1.RegisterHostServiceServer(r.server, r.services)
	go func() { _ = r.server.Serve(r.accepted) }() // until stop closes the listener
	return id, nil
}

// stop ends the host's services without waiting for the plugin. Running requests fail. Server.Stop alone would wait for
// connections in their handshake, hence closeAll first.
func (r *remote) stop() {
	if r.server != nil {
		r.accepted.closeAll()
		r.server.Stop()
	}
}
