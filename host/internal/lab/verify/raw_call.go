package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rpccode "google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// answered says in words how a call failed. [status.Code] still finds the code.
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
	return fmt.Sprintf("%s was answered with %s: %s", e.what, codeName(e.status.Code()), text.OneLine(e.status.Message(), 300))
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

// rawCall is one call whose answer is not judged.
type rawCall struct {
	op       plugins.Op
	sample   sample
	info     contract.Info // says what a Compress is told
	settings []byte
	// sent is called when the request is complete; it may be nil.
	sent func()
}

// call makes a call and returns how it ended.
func (p *raw) call(ctx context.Context, c rawCall) error {
	if c.op == plugins.OpOptimize {
		return answered("Optimize", p.optimize(ctx, c))
	}
	return answered("Compress", p.compress(ctx, c))
}

// header is the header that the host would send: revision 1 of a history that was never rewritten.
func (c rawCall) header(in prepare.Call) wire.Call {
	in.Config = c.settings
	return wire.Call{CallParams: in.CallParams, Entries: len(in.Entries), Tools: in.Tools}
}

func (p *raw) optimize(ctx context.Context, c rawCall) error {
	in := callOf(c.sample, "raw", 1)
	return p.rpc.Optimize(ctx, c.header(in), contract.OptimizeParams{Density: density}, c.sample.sent(), c.sent)
}

func (p *raw) compress(ctx context.Context, c rawCall) error {
	c.sample = c.sample.curated()
	in := compressCall(c.sample, c.info)
	in.SessionID = "raw"
	return p.rpc.Compress(ctx, c.header(in.Call), in.CompressParams, c.sample.sent(), c.sent)
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
		what, codeName(got), text.OneLine(status.Convert(err).Message(), 200), strings.Join(names, " or "))
}
