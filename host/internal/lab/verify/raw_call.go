package verify

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	rpccode "google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk"
)

// answered wraps the error of a call with its name and code. [status.Code] still finds the code in the result.
func answered(what string, err error) error {
	if err == nil {
		return nil
	}
	return &callError{what, status.Convert(err)}
}

// callError is a gRPC error that reads as a sentence: gRPC's own text ("rpc error: code = …") buries the message. what
// is the method as the protocol names it.
type callError struct {
	what   string
	status *status.Status
}

func (e *callError) Error() string {
	return fmt.Sprintf(
		"%s was answered with %s: %s", e.what, codeName(e.status.Code()), text.OneLine(e.status.Message(), 300))
}

// GRPCStatus lets status.Code find the code.
func (e *callError) GRPCStatus() *status.Status { return e.status }

// operations returns the calls that a plugin supports, by its trigger. Every strategy has a Compress; only continuous
// ones have an Optimize.
func operations(info sdk.Info) []plugins.Op {
	if info.Trigger.Mode == sdk.ModeContinuous {
		return []plugins.Op{plugins.OpOptimize, plugins.OpCompress}
	}
	return []plugins.Op{plugins.OpCompress}
}

// rawCall is one call whose answer is discarded: the checks that use it look at the process or at the error code.
type rawCall struct {
	op     plugins.Op
	sample samples.Sample
	info   sdk.Info // says what a Compress is told
	// Sent as they are, valid or not.
	settings []byte
	// sent is called once the request is complete, on the goroutine that makes the call; nil: no one is told. From
	// then on the plugin has all it needs, and whatever it does is its own work.
	sent func()
}

// call makes the call, reads the answer to its end, and returns how it ended.
func (p *raw) call(ctx context.Context, c rawCall) error {
	a, err := conform.Standard(c.info)
	if err != nil {
		return err
	}
	if c.op == plugins.OpOptimize {
		in := a.OptimizeInput("raw", c.sample.History)
		return answered("Optimize", p.rpc.Optimize(ctx, c.header(in.Call), in.OptimizeParams, travelling(in.History), c.sent))
	}
	in := a.CompressInput("raw", conform.Curated(c.sample).History) // as hosts do
	return answered("Compress", p.rpc.Compress(ctx, c.header(in.Call), in.CompressParams, travelling(in.History), c.sent))
}

// header returns the first message of the request.
func (c rawCall) header(in sdk.Call) wire.Call {
	// In place of what the host would send: its settings are always an object.
	in.Config = c.settings
	return wire.Call{CallParams: in.CallParams, Entries: len(in.History), Tools: in.Tools.JSON()}
}

// travelling are the entries of a history as they are sent.
func travelling(all []sdk.Content) iter.Seq[wire.Entry] {
	return func(yield func(wire.Entry) bool) {
		for _, e := range entries(all, nil) {
			if !yield(wire.Entry{ID: e.ID, Tokens: e.Tokens, Content: e.Content}) {
				return
			}
		}
	}
}

// codeName returns a code's name as the protocol documents it, such as INVALID_ARGUMENT. Go's codes.Code prints
// InvalidArgument, which authors in other languages would search for in vain.
func codeName(c codes.Code) string { return rpccode.Code(c).String() }

// want returns an error if a call ended with a code that is not in right. codes.OK is a code like any other.
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
