package client

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk"
)

// Raw makes single calls of the protocol, in any order and with any settings, and judges no answer. It is for the
// conformance suite, which does what a host never does. Errors are gRPC's.
type Raw struct {
	proc   *process.Process
	remote remote
}

// NewRaw wraps a process that is neither described nor configured. Host calls are not limited.
func NewRaw(p *process.Process) *Raw {
	return &Raw{proc: p, remote: newRemote(p, math.MaxInt, func(error) {})}
}

const RawCallID = "raw"

// Serve offers the host's services, before Configure. Unlike a host's, they do not end with a call: a request continues
// until the plugin cancels it. stop ends them.
func (r *Raw) Serve(ctx context.Context, host sdk.Host) (id uint32, stop func(), err error) {
	r.remote.services.open(RawCallID, &serviceCall{ctx: context.Background(), host: host, mayGenerate: true})
	id, err = r.remote.serve(ctx, r.proc)
	if err != nil {
		return 0, nil, err
	}
	return id, r.remote.stop, nil
}

// Declaration is what a plugin reports about itself, unchecked.
type Declaration struct {
	sdk.Info
	answer protoInfo
}

// GetInfo asks the plugin what it is. If a declared default is not JSON, the result has no settings at all.
func (r *Raw) GetInfo(ctx context.Context, hostVersion string) (Declaration, error) {
	answer, err := r.remote.getInfo(ctx, hostVersion)
	if err != nil {
		return Declaration{}, err
	}
	info, err := wire.FromInfo(answer)
	if err != nil {
		rest := proto.CloneOf(answer)
		rest.Config = nil
		info, _ = wire.FromInfo(rest) // nothing else can fail
	}
	return Declaration{info, answer}, nil
}

// Difference names the fields in which two answers to GetInfo differ; "" if they are equal. It compares the messages
// themselves, so fields of a newer protocol count too.
func (d Declaration) Difference(other Declaration) string {
	if proto.Equal(d.answer, other.answer) {
		return ""
	}
	var found []string
	a, b := d.answer.ProtoReflect(), other.answer.ProtoReflect()
	fields := a.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if va, vb := a.Get(f), b.Get(f); !va.Equal(vb) {
			found = append(
				found,
				fmt.Sprintf("%s was %q, is %q", f.Name(), text.OneLine(va.String(), 60), text.OneLine(vb.String(), 60)),
			)
		}
	}
	if len(found) == 0 {
		return "it differs in a field that this host does not know"
	}
	return strings.Join(found, "; ")
}

func (r *Raw) Configure(ctx context.Context, c wire.Configuration) error {
	return r.remote.configure(ctx, c)
}

// Optimize makes a call and reads the answer to its end. sent (nil: none) is called when the request is complete.
func (r *Raw) Optimize(
	ctx context.Context, c wire.Call, in sdk.OptimizeParams, entries iter.Seq[wire.Entry], sent func(),
) error {
	c.ID = RawCallID
	stream, err := wire.OpenOptimize(ctx, r.remote.strategy, c, in)
	return drain(stream, err, entries, sent)
}

// Compress makes a call and reads the answer to its end. sent (nil: none) is called when the request is complete.
func (r *Raw) Compress(
	ctx context.Context, c wire.Call, in sdk.CompressParams, entries iter.Seq[wire.Entry], sent func(),
) error {
	c.ID = RawCallID
	stream, err := wire.OpenCompress(ctx, r.remote.strategy, c, in)
	return drain(stream, err, entries, sent)
}

func drain[M sdk.DensityMetadata | sdk.CompressMetadata, P any](
	stream *wire.Stream[M, P], err error, entries iter.Seq[wire.Entry], sent func(),
) error {
	if err != nil {
		return err
	}
	if err := stream.Send(nil, entries); err != nil {
		return err
	}
	if sent != nil {
		sent()
	}
	return stream.Drain()
}
