package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/tap"

	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// Bounds of what one plugin process can take of the host by asking it, all connections together. Requests above a bound
// are refused; a plugin that does not stop then is killed. What is refused before its body is read takes no memory and
// no goroutine.
const (
	// maxRequests is how many requests may be open at a time.
	maxRequests = 32
	// maxRequestMessage is the largest single message of a request, in bytes. Entries travel in chunks of at most
	// [wire.MaxChunk], so that only a system prompt could come near.
	maxRequestMessage = 4 << 20
	// maxRequestMemory is how much the requests that are open may take of the host's memory together, in bytes. It
	// leaves room for two of the largest size.
	maxRequestMemory = 2 * maxServiceBytes
	// maxRefused is how many requests may be refused in a row. A few are normal: those that were on their way when
	// their call ended.
	maxRefused = 1000
	// maxUnasked is how much a plugin may send while no call is under way, in bytes.
	maxUnasked = 16 << 20

	// streamWindow and connectionWindow are how many bytes gRPC buffers of what has not been read yet. Fixed ones
	// keep it from raising them to megabytes for a fast sender.
	streamWindow, connectionWindow = 256 << 10, 1 << 20
)

// bounds keeps account of what a plugin's requests take. kill is called at most once, on a goroutine of its own.
type bounds struct {
	kill func(why error)

	under   atomic.Int64 // calls under way
	open    atomic.Int64 // requests that are being handled
	memory  atomic.Int64 // bytes that they take
	refused atomic.Int64 // requests opened and not admitted since the last call began
	unasked atomic.Int64 // bytes received while no call was under way, since the last one
}

// newBounds returns bounds whose breach ends the plugin through kill.
func newBounds(kill func(error)) *bounds {
	var once sync.Once
	return &bounds{kill: func(why error) { once.Do(func() { go kill(why) }) }}
}

// begin records that a call during which the plugin may ask has begun, until the returned function is called.
func (b *bounds) begin() (end func()) {
	b.refused.Store(0)
	b.unasked.Store(0)
	b.under.Add(1)
	return func() { b.under.Add(-1) }
}

// serverOptions returns what makes a gRPC server keep the bounds.
func (b *bounds) serverOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxRequestMessage), grpc.MaxConcurrentStreams(maxRequests),
		grpc.InitialWindowSize(streamWindow), grpc.InitialConnWindowSize(connectionWindow),
		grpc.ConnectionTimeout(handshakeTimeout),
		// Called for each request before anything of it is read: outside of a call a plugin has nothing to ask.
		grpc.InTapHandle(func(ctx context.Context, _ *tap.Info) (context.Context, error) {
			if b.under.Load() == 0 {
				return nil, wire.ToStatus(errNoCall)
			}
			return ctx, nil
		}),
		grpc.StreamInterceptor(func(
			srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, h grpc.StreamHandler,
		) error {
			return b.handle(func() error { return h(srv, s) })
		}),
		grpc.UnaryInterceptor(func(
			ctx context.Context, req any, _ *grpc.UnaryServerInfo, h grpc.UnaryHandler,
		) (answer any, err error) {
			err = b.handle(func() error {
				answer, err = h(ctx, req)
				return err
			})
			return answer, err
		}),
	}
}

// errNoCall refuses a request that no call can have made.
var errNoCall = fmt.Errorf("%w: no Compress is under way; host services exist during a Compress only",
	contract.ErrNotGranted)

// handle runs the handler of a request, unless too many are open. The bound of concurrent streams above is per
// connection, this one is for all of them.
func (b *bounds) handle(f func() error) error {
	defer b.open.Add(-1)
	if b.open.Add(1) > maxRequests {
		return wire.ToStatus(fmt.Errorf("%w: %d requests are open already", contract.ErrBudgetSpent, maxRequests))
	}
	return f()
}

// admitted records that a request names a call that is under way and is within its budget. opened counted it before.
func (b *bounds) admitted() { b.refused.Add(-1) }

// opened records that a request arrived. It counts as refused until it is admitted.
func (b *bounds) opened() {
	if b.refused.Add(1) > maxRefused+maxRequests {
		b.kill(fmt.Errorf("it made more than %d requests in a row that the host refused", maxRefused))
	}
}

// received records bytes of requests that arrived.
func (b *bounds) received(n int) {
	if b.under.Load() == 0 && b.unasked.Add(int64(n)) > maxUnasked {
		b.kill(fmt.Errorf("it sent the host more than %d MiB while no call was under way", maxUnasked>>20))
	}
}

// errMemory ends a request of a plugin that is being killed.
var errMemory = errors.New("the requests that are open take too much memory")

// account is what one request takes. It is for one goroutine.
type account struct {
	of    *bounds
	taken int64
}

// charge adds bytes to the account.
func (a *account) charge(n int) error {
	a.taken += int64(n)
	if a.of.memory.Add(int64(n)) > maxRequestMemory {
		a.of.kill(fmt.Errorf("its requests to the host took more than %d MiB of memory together", maxRequestMemory>>20))
		return errMemory
	}
	return nil
}

// close gives back what the request took.
func (a *account) close() { a.of.memory.Add(-a.taken) }

// limits returns the bounds of one request whose memory is charged to a.
func (a *account) limits() wire.Limits {
	return wire.Limits{Message: maxServiceBytes, Total: maxServiceBytes, Charge: a.charge}
}
