package serve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

// foreign is a plugin by PROTOCOL.md alone, with neither our SDK nor go-plugin: what an author in another language
// writes.
type foreign struct {
	threshv1.UnimplementedStrategyServiceServer
	id   uint32
	host chan string // the address of the host's services, from the broker
}

func serveForeign() {
	if os.Getenv("THRESH_STRATEGY_PLUGIN") == "" {
		fmt.Fprintln(os.Stderr, "this is a thresh strategy plugin")
		os.Exit(1)
	}
	dir := os.Getenv("PLUGIN_UNIX_SOCKET_DIR")
	if dir == "" {
		dir = os.TempDir()
	}
	socket := filepath.Join(dir, "foreign")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	f := &foreign{host: make(chan string, 1)}
	server := grpc.NewServer(grpc.UnknownServiceHandler(f.broker))
	threshv1.RegisterStrategyServiceServer(server, f)
	fmt.Printf("1|1|unix|%s|grpc\n", socket)
	_ = server.Serve(listener)
}

// broker serves plugin.GRPCBroker/StartStream: a stream of ConnInfo messages {service_id 1, network 2, address 3}.
func (f *foreign) broker(_ any, stream grpc.ServerStream) error {
	if name, _ := grpc.MethodFromServerStream(stream); name != "/plugin.GRPCBroker/StartStream" {
		return status.Error(codes.Unimplemented, name)
	}
	for {
		var m emptypb.Empty // its fields are all unknown, and kept
		if err := stream.RecvMsg(&m); err != nil {
			return err
		}
		for b := []byte(m.ProtoReflect().GetUnknown()); len(b) > 0; {
			num, typ, n := protowire.ConsumeTag(b)
			b = b[n:]
			n = protowire.ConsumeFieldValue(num, typ, b)
			if num == 3 {
				address, _ := protowire.ConsumeString(b)
				f.host <- address
			}
			b = b[n:]
		}
	}
}

func (f *foreign) GetInfo(context.Context, *threshv1.GetInfoRequest) (*threshv1.GetInfoResponse, error) {
	return &threshv1.GetInfoResponse{Name: "foreign", Version: "0",
		Trigger: &threshv1.Trigger{Mode: threshv1.TriggerMode_TRIGGER_MODE_THRESHOLD, DefaultThreshold: 0.5}}, nil
}

func (f *foreign) Configure(_ context.Context, r *threshv1.ConfigureRequest) (*threshv1.ConfigureResponse, error) {
	f.id = r.GetHostServiceId()
	return &threshv1.ConfigureResponse{}, nil
}

// Compress asks the host for a prompt, and keeps the last entry.
func (f *foreign) Compress(stream threshv1.StrategyService_CompressServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	call := first.GetHeader().GetCall()
	for {
		if _, err := stream.Recv(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	conn, err := grpc.NewClient("unix:"+<-f.host, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	prompt, err := threshv1.NewHostServiceClient(conn).ResolvePrompt(stream.Context(),
		&threshv1.ResolvePromptRequest{CallId: call.GetCallId(), Name: "compression"})
	if err != nil {
		return err
	}
	n := call.GetEntries()
	result := &threshv1.CompressResult{Revision: call.GetRevision(), Pieces: 1,
		Metadata: &threshv1.CompressMetadata{Counts: map[string]int64{prompt.GetText(): 1}}}
	if err := stream.Send(&threshv1.CompressResponse{Part: &threshv1.CompressResponse_Header{Header: result}}); err != nil {
		return err
	}
	// Piece{keep: KeepRange{from: n-1, to: n}}, behind its length
	return stream.Send(&threshv1.CompressResponse{Part: &threshv1.CompressResponse_Chunk{Chunk: []byte{6, 0x0a, 4, 0x08,
		byte(n - 1), 0x10, byte(n)}}})
}

func TestAPluginWithoutOurSDKWorks(t *testing.T) {
	p := start(t, selfAs(t, "foreign"))
	info, err := p.GetInfo(t.Context(), &threshv1.GetInfoRequest{})
	if err != nil || info.GetName() != "foreign" {
		t.Fatalf("%v, %v", info, err)
	}
	p.serve(t, counter{}, &threshv1.ConfigureRequest{})
	result, pieces, err := p.compress(t.Context(), &threshv1.CompressHeader{Call: header("s")}, talk())
	if err != nil || result.GetMetadata().GetCounts()["be brief"] != 1 || fmt.Sprint(pieces) != "[{2 3}]" {
		t.Errorf("%v, %v, %v", result, pieces, err)
	}
}
