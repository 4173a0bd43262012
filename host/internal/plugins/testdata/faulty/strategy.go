package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

type strategy struct {
	threshv1.UnimplementedStrategyServiceServer
	name   string
	suffix string // of the file's name, behind the fault
	broker *plugin.GRPCBroker
	server *grpc.Server
	host   threshv1.HostServiceClient
	hostID uint32
	config []byte
}

func (s *strategy) GetInfo(context.Context, *threshv1.GetInfoRequest) (*threshv1.GetInfoResponse, error) {
	info := &threshv1.GetInfoResponse{
		Name:    s.name + s.suffix,
		Version: "1.2.3",
		Trigger: &threshv1.Trigger{Mode: threshv1.TriggerMode_TRIGGER_MODE_CONTINUOUS, DefaultThreshold: 0.85},
		Config: []*threshv1.ConfigField{
			{Key: "keep", Type: threshv1.ConfigType_CONFIG_TYPE_INTEGER, DefaultValue: []byte("50"), Minimum: proto.Float64(1)},
		},
	}
	if s.suffix == onlyThreshold {
		info.Trigger.Mode = threshv1.TriggerMode_TRIGGER_MODE_THRESHOLD
	}
	switch s.name {
	case "panics-in-getinfo":
		panic("who am I?")
	case "hangs-in-getinfo":
		time.Sleep(time.Hour)
	case "lies-about-its-name":
		info.Name = "somebody-else"
	case "has-no-trigger":
		info.Trigger = nil
	case "later-than-its-threshold":
		info.Trigger.EarlyThreshold = 0.9
	case "threshold-only", "waits-in-compress", "eats-memory", "asks-without-end", "tries-to-escape", "tells-what-it-sees",
		"fills-its-directory", "starts-threads", "shares-memory", "takes-page-tables":
		info.Trigger.Mode = threshv1.TriggerMode_TRIGGER_MODE_THRESHOLD
	case "needs-llm", "connects-late":
		info.Trigger.Mode = threshv1.TriggerMode_TRIGGER_MODE_THRESHOLD
		info.RequiresLlm = true
	case "needs-network":
		info.Features = &threshv1.Features{NeedsNetwork: true}
	case "changes-its-info":
		info.Description = fmt.Sprint("process ", os.Getpid())
	case "declares-too-many", "declares-too-much", "declares-long-values":
		declare(s.name, info)
	case "ignores-sigterm":
		signal.Ignore(syscall.SIGTERM)
	case "floods-stdout":
		go func() { // past go-plugin, which has replaced os.Stdout
			noise := []byte(strings.Repeat("noise ", 100_000))
			for {
				if _, err := os.NewFile(1, "stdout").Write(noise); err != nil {
					return
				}
			}
		}()
	case "noisy":
		_, _ = os.NewFile(1, "stdout").WriteString(noise)
	case "leaves-a-grandchild":
		return info, grandchild(info, &syscall.SysProcAttr{})
	case "leaves-a-daemon":
		return info, grandchild(info, &syscall.SysProcAttr{Setsid: true})
	}
	return info, nil
}

// grandchild starts a process that keeps standard output and error open, and tells its id.
func grandchild(info *threshv1.GetInfoResponse, attributes *syscall.SysProcAttr) error {
	cmd := exec.Command("/bin/sleep", "600")
	cmd.Stdout, cmd.Stderr = os.NewFile(1, "stdout"), os.NewFile(2, "stderr")
	cmd.SysProcAttr = attributes
	if err := cmd.Start(); err != nil {
		return err
	}
	info.Description = fmt.Sprint(cmd.Process.Pid)
	return nil
}

func (s *strategy) Configure(_ context.Context, req *threshv1.ConfigureRequest) (*threshv1.ConfigureResponse, error) {
	switch s.name {
	case "refuses-config":
		return nil, status.Error(codes.InvalidArgument, "keep must be a prime number")
	case "exits-in-configure":
		os.Exit(4)
	}
	s.config = req.GetConfig()
	s.hostID = req.GetHostServiceId()
	if s.name == "connects-late" {
		return &threshv1.ConfigureResponse{}, nil
	}
	return &threshv1.ConfigureResponse{}, s.connect()
}

func (s *strategy) connect() error {
	conn, err := s.broker.Dial(s.hostID)
	if err == nil {
		s.host = threshv1.NewHostServiceClient(conn)
	}
	return err
}

// misbehave does what any call may do wrong. op is "optimize" or "compress"; a fault "in-calls" is one of both.
func (s *strategy) misbehave(ctx context.Context, op string) error {
	switch strings.Replace(s.name, "-in-calls", "-in-"+op, 1) {
	case "panics-in-" + op:
		panic("no idea what to do")
	case "exits-in-" + op:
		fmt.Fprintln(os.NewFile(2, "stderr"), "out of paper")
		os.Exit(5)
	case "killed-in-" + op: // as for want of memory
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour)
	case "hangs-in-" + op:
		time.Sleep(time.Hour)
	case "hangs-up-in-" + op:
		go s.server.Stop()
		<-ctx.Done()
	case "stops-in-" + op:
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Hour)
	case "waits-in-" + op:
		_ = os.WriteFile("waiting", nil, 0o600) // for a test that wants to disturb it
		<-ctx.Done()
		return ctx.Err()
	case "fails-in-" + op:
		return errors.New("the moon is in the wrong phase")
	case "unavailable-in-" + op:
		return status.Error(codes.Unavailable, "come back tomorrow")
	}
	return nil
}

func (s *strategy) Optimize(stream grpc.BidiStreamingServer[threshv1.OptimizeRequest, threshv1.OptimizeResponse]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	if err := s.misbehave(stream.Context(), "optimize"); err != nil {
		return err
	}
	if err := drain(stream.Recv); err != nil {
		return err
	}
	call := first.GetHeader().GetCall()
	s.flood(stream.Context(), call.GetCallId())
	result := &threshv1.OptimizeResult{
		Revision: call.GetRevision(),
		Metadata: &threshv1.DensityMetadata{ReadWritePairsPruned: 1},
	}
	edits := s.edits(call)
	result.Edits = uint64(len(edits))
	switch s.name {
	case "for-another-revision":
		result.Revision++
	case "announces-too-much":
		result.Edits = 1 << 40
	case "ends-without-an-answer":
		return nil
	case "asks-for-resync":
		result.Resync = true
	case "answers-too-little":
		result.Edits++
	}
	return answer(edits, s.name,
		func() error {
			return stream.Send(&threshv1.OptimizeResponse{Part: &threshv1.OptimizeResponse_Header{Header: result}})
		},
		func(chunk []byte) error {
			return stream.Send(&threshv1.OptimizeResponse{Part: &threshv1.OptimizeResponse_Chunk{Chunk: chunk}})
		})
}

// drain receives what is left of a request.
func drain[M any](recv func() (M, error)) error {
	for {
		if _, err := recv(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// declare declares settings without measure: too many, with too many values, or with values that are too long.
func declare(name string, info *threshv1.GetInfoResponse) {
	settings, values, long := 150, 100, 190 // each is allowed, and all together are not
	switch name {
	case "declares-too-many":
		settings, values = 900, 1
	case "declares-long-values":
		settings, values, long = 1, 1, 60_000
	}
	for i := range settings {
		field := &threshv1.ConfigField{Key: fmt.Sprint("k", i), Type: threshv1.ConfigType_CONFIG_TYPE_STRING}
		for range values {
			field.Allowed = append(field.Allowed, strings.Repeat("x", long))
		}
		info.Config = append(info.Config, field)
	}
}
