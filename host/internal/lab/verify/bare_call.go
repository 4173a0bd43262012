package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	rpccode "google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
)

// getInfo asks what the plugin is.
func (p *bare) getInfo(ctx context.Context) (*threshv1.GetInfoResponse, error) {
	info, err := p.client.GetInfo(ctx, &threshv1.GetInfoRequest{HostVersion: "verify"})
	return info, answered("GetInfo", err)
}

// configure offers host services to the plugin and hands it its settings.
func (p *bare) configure(ctx context.Context, settings []byte) error {
	return p.configureWith(ctx, settings, answers)
}

func (p *bare) configureWith(ctx context.Context, settings []byte, m modelMode) error {
	if p.host == nil {
		if err := p.serveHost(m); err != nil {
			return fmt.Errorf("the broker's stream: %w", err)
		}
	}
	_, err := p.client.Configure(ctx, &threshv1.ConfigureRequest{HostServiceId: hostServiceID, Config: settings, LogLevel: "error"})
	return answered("Configure", err)
}

// answered puts an error of a call into words; its code stays to be found.
func answered(what string, err error) error {
	if err == nil {
		return nil
	}
	return &callError{what, status.Convert(err)}
}

type callError struct {
	what   string
	status *status.Status
}

func (e *callError) Error() string {
	return fmt.Sprintf("%s was answered with %s: %s", e.what, codeName(e.status.Code()), oneLine(e.status.Message(), 300))
}

// GRPCStatus lets status.Code find the code.
func (e *callError) GRPCStatus() *status.Status { return e.status }

// operations returns the calls that a plugin with the answer to GetInfo takes.
func operations(info *threshv1.GetInfoResponse) []plugins.Op {
	if info.GetTrigger().GetMode() == threshv1.TriggerMode_TRIGGER_MODE_CONTINUOUS {
		return []plugins.Op{plugins.OpOptimize, plugins.OpCompress}
	}
	return []plugins.Op{plugins.OpCompress}
}

// bareCall is one call, without anybody who judges the answer.
type bareCall struct {
	op       plugins.Op
	sample   sample
	info     sdk.Info // says what a Compress is told
	settings []byte
	// sent is called when the request is complete; nil: nobody is.
	sent func()
}

// call makes a call and returns how it ended.
func (p *bare) call(ctx context.Context, c bareCall) error {
	if c.op == plugins.OpOptimize {
		return answered("Optimize", p.optimize(ctx, c))
	}
	return answered("Compress", p.compress(ctx, c))
}

func (c bareCall) header() *threshv1.CallHeader {
	return &threshv1.CallHeader{
		CallId: "bare", SessionId: "bare", Revision: 1, Base: &threshv1.Base{}, Entries: uint64(len(c.sample.entries)),
		WorkspaceRoot: workspace, Tools: taxonomy(), Config: c.settings,
	}
}

func (p *bare) optimize(ctx context.Context, c bareCall) error {
	stream, err := p.client.Optimize(ctx)
	if err != nil {
		return err
	}
	header := &threshv1.OptimizeHeader{Call: c.header(), Density: &threshv1.DensityConfig{
		ReadWritePruning: true, FileDedupe: true, RecencyPruning: true, RecencyRetention: 3,
		PartialWrites: threshv1.PartialWrites_PARTIAL_WRITES_PRUNE,
	}}
	err = stream.Send(&threshv1.OptimizeRequest{Part: &threshv1.OptimizeRequest_Header{Header: header}})
	if err == nil {
		err = c.sendEntries(func(chunk []byte) error {
			return stream.Send(&threshv1.OptimizeRequest{Part: &threshv1.OptimizeRequest_Chunk{Chunk: slices.Clone(chunk)}})
		})
	}
	return c.finish(err, stream.CloseSend, func() error { _, err := stream.Recv(); return err })
}

func (p *bare) compress(ctx context.Context, c bareCall) error {
	stream, err := p.client.Compress(ctx)
	if err != nil {
		return err
	}
	c.sample = c.sample.curated()
	in := compressCall(c.sample, c.info)
	header := &threshv1.CompressHeader{
		Call: c.header(), CurrentTokens: int64(in.CurrentTokens), ContextLimit: int64(in.ContextLimit), Threshold: in.Threshold,
		PreserveThreshold: in.PreserveThreshold, TopPreserveThreshold: in.TopPreserveThreshold,
		Reason: threshv1.CompressReason_COMPRESS_REASON_THRESHOLD, UserMessageBudget: int64(in.UserMessageBudget),
	}
	if m := in.Model; m != nil {
		header.Model = &threshv1.Model{Name: m.Name, ContextLimit: int64(m.ContextLimit), MaxOutput: int64(m.MaxOutput)}
	}
	err = stream.Send(&threshv1.CompressRequest{Part: &threshv1.CompressRequest_Header{Header: header}})
	if err == nil {
		err = c.sendEntries(func(chunk []byte) error {
			return stream.Send(&threshv1.CompressRequest{Part: &threshv1.CompressRequest_Chunk{Chunk: slices.Clone(chunk)}})
		})
	}
	return c.finish(err, stream.CloseSend, func() error { _, err := stream.Recv(); return err })
}

func (c bareCall) sendEntries(send func([]byte) error) error {
	w := wire.NewWriter(send)
	for _, e := range c.sample.entries {
		if err := w.Entry(e.ID, e.Tokens, e.Content); err != nil {
			return err
		}
	}
	return w.Flush()
}

// finish ends the request, whose sending came to err, and reads the answer to its end.
func (c bareCall) finish(err error, closeSend, recv func() error) error {
	if err != nil && !errors.Is(err, io.EOF) { // io.EOF: the plugin has answered already
		return err
	}
	if err := closeSend(); err != nil {
		return err
	}
	if c.sent != nil {
		c.sent()
	}
	for {
		if err := recv(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// codeName is the code's name as the protocol writes it, which is not as Go does.
func codeName(c codes.Code) string { return rpccode.Code(c).String() }

// want returns an error if a call ended with another code than one of those that are right.
func want(what string, err error, right ...codes.Code) error {
	got := status.Code(err)
	if slices.Contains(right, got) {
		return nil
	}
	names := make([]string, len(right))
	for i, c := range right {
		names[i] = codeName(c)
	}
	return fmt.Errorf("%s was answered with %s (%s); %s is right",
		what, codeName(got), oneLine(status.Convert(err).Message(), 200), strings.Join(names, " or "))
}
