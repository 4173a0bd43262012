package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rpccode "google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// declaration is what a plugin says about itself, unchecked, and the answer that it stands in.
type declaration struct {
	contract.Info
	raw *threshv1.GetInfoResponse
}

// getInfo asks what the plugin is. Settings are left out if one of their defaults is no JSON.
func (p *bare) getInfo(ctx context.Context) (declaration, error) {
	r, err := p.client.GetInfo(ctx, &threshv1.GetInfoRequest{HostVersion: "verify"})
	if err != nil {
		return declaration{}, answered("GetInfo", err)
	}
	info, err := wire.FromInfo(r)
	if err != nil {
		rest := proto.CloneOf(r)
		rest.Config = nil
		info, _ = wire.FromInfo(rest) // nothing else can fail
	}
	return declaration{info, r}, nil
}

// difference names the fields in which two answers to GetInfo differ; "" if they are the same.
func (d declaration) difference(other declaration) string {
	if proto.Equal(d.raw, other.raw) {
		return ""
	}
	var found string
	a, b := d.raw.ProtoReflect(), other.raw.ProtoReflect()
	fields := a.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if va, vb := a.Get(f), b.Get(f); !va.Equal(vb) {
			found += fmt.Sprintf("%s was %s, is %s; ", f.Name(), show(va.String()), show(vb.String()))
		}
	}
	if found == "" {
		return "it differs in a field that this host does not know"
	}
	return found[:len(found)-2]
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
	_, err := p.client.Configure(ctx, wire.ToConfigure(wire.Configuration{
		HostServiceID: hostServiceID, Config: settings, LogLevel: "error",
	}))
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

// operations returns the calls that a plugin takes.
func operations(info contract.Info) []plugins.Op {
	if info.Trigger.Mode == contract.ModeContinuous {
		return []plugins.Op{plugins.OpOptimize, plugins.OpCompress}
	}
	return []plugins.Op{plugins.OpCompress}
}

// bareCall is one call, without anybody who judges the answer.
type bareCall struct {
	op       plugins.Op
	sample   sample
	info     contract.Info // says what a Compress is told
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

// header is what the host's own header says; revision 1 of a history that was never rewritten.
func (c bareCall) header(in prepare.Call) wire.Call {
	in.Config = c.settings
	return wire.Call{CallParams: in.CallParams, ID: "bare", Entries: len(in.Entries), Tools: in.Tools}
}

func (p *bare) optimize(ctx context.Context, c bareCall) error {
	in := callOf(c.sample, "bare", 1)
	stream, err := wire.OpenOptimize(ctx, p.client, c.header(in), contract.OptimizeParams{Density: density})
	if err != nil {
		return err
	}
	return finish(stream, c)
}

func (p *bare) compress(ctx context.Context, c bareCall) error {
	c.sample = c.sample.curated()
	in := compressCall(c.sample, c.info)
	in.SessionID = "bare"
	stream, err := wire.OpenCompress(ctx, p.client, c.header(in.Call), in.CompressParams)
	if err != nil {
		return err
	}
	return finish(stream, c)
}

// finish sends the request and reads the answer to its end.
func finish[M contract.DensityMetadata | contract.CompressMetadata, P any](stream *wire.Stream[M, P], c bareCall) error {
	if err := stream.Send(c.sample.sent()); err != nil {
		return err
	}
	if c.sent != nil {
		c.sent()
	}
	return stream.Drain()
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
