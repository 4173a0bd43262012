package serve_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	hclog "github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/thresh-dev/thresh/internal/rewrite"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk"
)

// hostSide is the least that a host does: dispense the generated client and keep the broker.
type hostSide struct {
	plugin.NetRPCUnsupportedPlugin
	broker *plugin.GRPCBroker
	conn   *grpc.ClientConn
}

func (*hostSide) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("this is the host")
}

func (h *hostSide) GRPCClient(_ context.Context, broker *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	h.broker, h.conn = broker, conn
	return threshv1.NewStrategyServiceClient(conn), nil
}

// running is a plugin process that was started by go-plugin.
type running struct {
	threshv1.StrategyServiceClient
	*hostSide
	cmd *exec.Cmd
	log *logBuffer
}

// selfAs is the command that runs this test binary as a plugin.
func selfAs(t testing.TB, name string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	// A race-enabled process sleeps for a second when it exits, unless told not to.
	cmd.Env = append(cmd.Env, envPlugin+"="+name, "TMPDIR="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
	return cmd
}

// start starts cmd as go-plugin does for a host, and ends it with the test.
func start(t testing.TB, cmd *exec.Cmd) *running {
	t.Helper()
	side := &hostSide{}
	log := newLogBuffer()
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  wire.Handshake(),
		Plugins:          plugin.PluginSet{wire.PluginName: side},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Cmd:              cmd,
		SkipHostEnv:      true,
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Info, Output: log, JSONFormat: true}),
		StartTimeout:     20 * time.Second,
	})
	t.Cleanup(client.Kill)
	proto, err := client.Client()
	if err != nil {
		t.Fatalf("start: %v\n%s", err, log)
	}
	raw, err := proto.Dispense(wire.PluginName)
	if err != nil {
		t.Fatal(err)
	}
	return &running{StrategyServiceClient: raw.(threshv1.StrategyServiceClient), hostSide: side, cmd: cmd, log: log}
}

// configured is the actor after Configure, with host behind its broker if that is not nil.
func configured(t testing.TB, host threshv1.HostServiceServer) *running {
	t.Helper()
	p := start(t, selfAs(t, "actor"))
	r := &threshv1.ConfigureRequest{Config: []byte(`{"keep":50}`), LogLevel: "warn"}
	p.serve(t, host, r)
	return p
}

// serve calls Configure, with host behind the broker if that is not nil.
func (p *running) serve(t testing.TB, host threshv1.HostServiceServer, r *threshv1.ConfigureRequest) {
	t.Helper()
	if host != nil {
		r.HostServiceId = p.broker.NextId()
		go p.broker.AcceptAndServe(r.HostServiceId, func(opts []grpc.ServerOption) *grpc.Server {
			s := grpc.NewServer(opts...)
			threshv1.RegisterHostServiceServer(s, host)
			return s
		})
	}
	if _, err := p.Configure(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// optimize runs a whole Optimize call.
func (p *running) optimize(ctx context.Context, call *threshv1.CallHeader,
	history []sdk.Content) (*threshv1.OptimizeResult, []rewrite.Edit, error) {
	stream, err := p.Optimize(ctx)
	if err != nil {
		return nil, nil, err
	}
	call.Entries = uint64(len(history))
	header := &threshv1.OptimizeHeader{Call: call, Density: &threshv1.DensityConfig{RecencyRetention: 3}}
	_ = stream.Send(&threshv1.OptimizeRequest{Part: &threshv1.OptimizeRequest_Header{Header: header}}) // Recv says why
	send(history, func(chunk []byte) error {
		return stream.Send(&threshv1.OptimizeRequest{Part: &threshv1.OptimizeRequest_Chunk{Chunk: chunk}})
	})
	_ = stream.CloseSend()
	first, err := stream.Recv()
	if err != nil {
		return nil, nil, err
	}
	edits, err := wire.ReadAll(func() ([]byte, error) {
		r, err := stream.Recv()
		return r.GetChunk(), err
	}, wire.Limits{Of: "edit", Count: int(first.GetHeader().GetEdits())}, wire.DecodeEdit)
	return first.GetHeader(), edits, err
}

// compress runs a whole Compress call.
func (p *running) compress(ctx context.Context, header *threshv1.CompressHeader,
	history []sdk.Content) (*threshv1.CompressResult, []rewrite.Piece, error) {
	stream, err := p.Compress(ctx)
	if err != nil {
		return nil, nil, err
	}
	header.Call.Entries = uint64(len(history))
	_ = stream.Send(&threshv1.CompressRequest{Part: &threshv1.CompressRequest_Header{Header: header}}) // Recv says why
	send(history, func(chunk []byte) error {
		return stream.Send(&threshv1.CompressRequest{Part: &threshv1.CompressRequest_Chunk{Chunk: chunk}})
	})
	_ = stream.CloseSend()
	first, err := stream.Recv()
	if err != nil {
		return nil, nil, err
	}
	pieces, err := wire.ReadAll(func() ([]byte, error) {
		r, err := stream.Recv()
		return r.GetChunk(), err
	}, wire.Limits{Of: "piece", Count: int(first.GetHeader().GetPieces())}, wire.DecodePiece)
	return first.GetHeader(), pieces, err
}

// send sends entries of 10 tokens each, until the other side does not listen any more.
func send(history []sdk.Content, sendChunk func([]byte) error) {
	w := wire.NewWriter(sendChunk)
	for _, c := range history {
		if w.Entry("id", 10, c) != nil {
			return
		}
	}
	_ = w.Flush()
}

// logBuffer collects what a host logs.
type logBuffer struct {
	mu    sync.Mutex
	text  bytes.Buffer
	grown chan struct{} // closed and replaced with each write
}

func newLogBuffer() *logBuffer { return &logBuffer{grown: make(chan struct{})} }

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.grown)
	b.grown = make(chan struct{})
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// line waits for a line that holds all the words.
func (b *logBuffer) line(t *testing.T, words ...string) string {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		b.mu.Lock()
		text, grown := b.text.String(), b.grown
		b.mu.Unlock()
	lines:
		for line := range strings.Lines(text) {
			for _, w := range words {
				if !strings.Contains(line, w) {
					continue lines
				}
			}
			return line
		}
		select {
		case <-grown:
		case <-timeout:
			t.Fatalf("no line of the log holds %q:\n%s", words, text)
		}
	}
}

// counter is a host whose tokenizer counts blocks, and whose model answers in two pieces.
type counter struct {
	threshv1.UnimplementedHostServiceServer
	fail error // what Generate ends with
}

func (counter) EstimateTokens(stream threshv1.HostService_EstimateTokensServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	if first.GetCallId() != "call-1" {
		return wire.ToStatus(sdk.ErrNotGranted)
	}
	pending := first.GetChunk()
	entries, err := wire.ReadAll(func() ([]byte, error) {
		if len(pending) > 0 {
			chunk := pending
			pending = nil
			return chunk, nil
		}
		r, err := stream.Recv()
		return r.GetChunk(), err
	}, wire.Limits{Count: wire.UntilEnd}, wire.DecodeContent)
	if err != nil {
		return wire.ToStatus(err)
	}
	var out threshv1.EstimateTokensResponse
	for _, e := range entries {
		out.Tokens = append(out.Tokens, int64(len(e.Blocks)))
	}
	return stream.SendAndClose(&out)
}

func (c counter) Generate(stream threshv1.HostService_GenerateServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	for {
		if _, err := stream.Recv(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	if c.fail != nil {
		return wire.ToStatus(c.fail)
	}
	for _, text := range []string{first.GetHeader().GetSystem(), "!"} {
		if err := stream.Send(&threshv1.GenerateResponse{Part: &threshv1.GenerateResponse_Text{Text: text}}); err != nil {
			return err
		}
	}
	return stream.Send(&threshv1.GenerateResponse{Part: &threshv1.GenerateResponse_End{End: &threshv1.GenerateEnd{
		FinishReason: "stop", InputTokens: 7, OutputTokens: first.GetHeader().GetMaxOutputTokens(), Model: "m",
	}}})
}

func (counter) ResolvePrompt(_ context.Context, r *threshv1.ResolvePromptRequest) (*threshv1.ResolvePromptResponse,
	error) {
	if r.GetName() != "compression" {
		return nil, wire.ToStatus(sdk.ErrNotFound)
	}
	return &threshv1.ResolvePromptResponse{Text: "be brief"}, nil
}
