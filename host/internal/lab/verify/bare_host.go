package verify

import (
	"context"
	"net"
	"path/filepath"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// hostServiceID is the id of the host's services on the broker.
const hostServiceID = 1

// modelMode says what comes of a Generate.
type modelMode bool

const (
	answers modelMode = false // what the scripted model says
	hangs   modelMode = true  // nothing, for as long as the plugin waits
)

// bareHost serves host services to one bare process. Unlike a real host, it does not end a request when its call ends: it
// waits to see whether the plugin does.
type bareHost struct {
	threshv1.UnimplementedHostServiceServer

	server *grpc.Server
	cancel context.CancelFunc
	model  modelMode

	requests   atomic.Int64
	open       atomic.Int64  // Generates that the plugin waits for
	generating chan struct{} // gets one when a Generate has begun
}

// serveHost offers host services to the plugin, before Configure: it listens, and says where on the broker's stream.
func (p *bare) serveHost(m modelMode) error {
	path := filepath.Join(p.dir, "host")
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &bareHost{
		server: grpc.NewServer(grpc.MaxRecvMsgSize(wire.MaxGRPCMessage)), cancel: cancel, model: m,
		generating: make(chan struct{}, 1),
	}
	threshv1.RegisterHostServiceServer(h.server, h)
	go func() { _ = h.server.Serve(listener) }() // until stop, which also closes the listener
	p.host = h
	broker, err := p.conn.NewStream(ctx, &grpc.StreamDesc{StreamName: "StartStream", ClientStreams: true, ServerStreams: true},
		"/plugin.GRPCBroker/StartStream")
	if err != nil {
		return err
	}
	return broker.SendMsg(connInfo(path))
}

// connInfo is go-plugin's message ConnInfo{service_id, network, address}. Its Go type is internal to go-plugin; a message
// without fields of its own carries the same bytes.
func connInfo(address string) *emptypb.Empty {
	raw := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), hostServiceID)
	raw = protowire.AppendString(protowire.AppendTag(raw, 2, protowire.BytesType), "unix")
	raw = protowire.AppendString(protowire.AppendTag(raw, 3, protowire.BytesType), address)
	m := &emptypb.Empty{}
	m.ProtoReflect().SetUnknown(raw)
	return m
}

func (h *bareHost) stop() {
	h.cancel()
	h.server.Stop()
}

// EstimateTokens counts entries.
func (h *bareHost) EstimateTokens(stream wire.EstimateStream) error {
	h.requests.Add(1)
	_, receive, err := wire.ReceiveEstimate(stream)
	if err != nil {
		return wire.ToStatus(err)
	}
	entries, err := receive(wire.Limits{})
	if err != nil {
		return wire.ToStatus(err)
	}
	counts := make([]int, len(entries))
	for i, e := range entries {
		counts[i] = tokens(e)
	}
	return wire.SendEstimate(stream, counts)
}

// Generate answers, or waits until the plugin has lost interest.
func (h *bareHost) Generate(stream wire.GenerateStream) error {
	h.requests.Add(1)
	h.open.Add(1)
	defer h.open.Add(-1)
	note(h.generating)
	if h.model == answers {
		return wire.ToStatus(generate(stream))
	}
	<-stream.Context().Done()
	return stream.Context().Err()
}

func generate(stream wire.GenerateStream) error {
	_, receive, err := wire.ReceiveGenerate(stream)
	if err != nil {
		return err
	}
	if _, err := receive(wire.Limits{}); err != nil {
		return err
	}
	if err := wire.SendText(stream, scriptedAnswer); err != nil {
		return err
	}
	return wire.SendCompletion(stream, contract.Completion{FinishReason: "stop", Model: model.Name})
}

// ResolvePrompt answers as the scripted host does.
func (h *bareHost) ResolvePrompt(context.Context, *threshv1.ResolvePromptRequest) (*threshv1.ResolvePromptResponse, error) {
	h.requests.Add(1)
	return wire.ToPrompt(scriptedPrompt), nil
}

// note leaves a note for whoever looks; if nobody does, it is not waited for.
func note(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
