package client

import (
	"context"
	"iter"
	"math"

	"google.golang.org/grpc"

	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// Raw makes single calls of the protocol to a process, in any order and with any settings, and judges no answer. It is for the
// conformance suite, which has to do what a host never does. Errors are gRPC's, as they came.
type Raw struct {
	proc   *process.Process
	remote remote
}

// NewRaw is for a process that was not described or configured yet.
func NewRaw(p *process.Process) *Raw {
	return &Raw{proc: p, remote: remote{
		strategy: threshv1.NewStrategyServiceClient(p.Conn()), services: newHostServices(math.MaxInt),
	}}
}

// RawCallID is the id of every raw call.
const RawCallID = "raw"

// Serve offers the host's services, before Configure. Unlike a host's, they do not end with a call: a request goes on until the plugin
// cancels it. stop ends them.
func (r *Raw) Serve(ctx context.Context, host contract.Host) (id uint32, stop func(), err error) {
	r.remote.services.open(RawCallID, &serviceCall{ctx: context.Background(), host: host, mayGenerate: true})
	id, err = r.remote.serve(ctx, r.proc)
	if err != nil {
		return 0, nil, err
	}
	return id, r.remote.server.Stop, nil
}

// GetInfo asks what the plugin is.
func (r *Raw) GetInfo(ctx context.Context, hostVersion string) (*threshv1.GetInfoResponse, error) {
	return r.remote.strategy.GetInfo(ctx, &threshv1.GetInfoRequest{HostVersion: hostVersion})
}

// Configure hands the plugin its settings.
func (r *Raw) Configure(ctx context.Context, c wire.Configuration) error {
	_, err := r.remote.strategy.Configure(ctx, wire.ToConfigure(c))
	return err
}

// Optimize makes a call and reads the answer to its end. sent is called when the request is complete; it may be nil.
func (r *Raw) Optimize(ctx context.Context, c wire.Call, in contract.OptimizeParams, entries iter.Seq[wire.Entry], sent func()) error {
	c.ID = RawCallID
	stream, err := wire.OpenOptimize(ctx, r.remote.strategy, c, in)
	if err != nil {
		return err
	}
	return drain(stream, entries, sent)
}

// Compress makes a call and reads the answer to its end. sent is called when the request is complete; it may be nil.
func (r *Raw) Compress(ctx context.Context, c wire.Call, in contract.CompressParams, entries iter.Seq[wire.Entry], sent func()) error {
	c.ID = RawCallID
	stream, err := wire.OpenCompress(ctx, r.remote.strategy, c, in)
	if err != nil {
		return err
	}
	return drain(stream, entries, sent)
}

// drain sends the history and reads the answer to its end.
func drain[M contract.DensityMetadata | contract.CompressMetadata, P any](
	stream *wire.Stream[M, P], entries iter.Seq[wire.Entry], sent func(),
) error {
	if err := stream.Send(entries); err != nil {
		return err
	}
	if sent != nil {
		sent()
	}
	return stream.Drain()
}

// serve offers the host's services on the process's broker, under the returned id, until server.Stop.
func (r *remote) serve(ctx context.Context, p *process.Process) (id uint32, err error) {
	id, listener, err := p.Accept(ctx)
	if err != nil {
		return 0, err
	}
	r.server = grpc.NewServer(grpc.MaxRecvMsgSize(process.MaxReceive))
	threshv1.RegisterHostServiceServer(r.server, r.services)
	go func() { _ = r.server.Serve(listener) }() // until Stop, which also closes the listener
	return id, nil
}
