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
	"github.com/thresh-dev/thresh/sdk"
)

// Bounds of what one plugin process can take of the host by asking it, over all connections. Requests above a bound are
// refused; a plugin that does not stop then is killed. What is refused before its body is read takes no memory and no
// goroutine.
const (
	maxRequests = 32
	// In bytes. Entries travel in chunks of at most [wire.MaxChunk], so only a system prompt could come near.
	maxRequestMessage = 4 << 20
	// maxRequestMemory bounds what the open requests take of the host's memory together, in bytes: two of the largest
	// size.
	maxRequestMemory = 2 * maxServiceBytes
	// maxRefused is how many requests may be refused in a row. A few are normal: those on their way when their call
	// ended.
	maxRefused = 1000
	// maxUnasked is how many bytes a plugin may send while no call is under way.
	maxUnasked = 16 << 20

	// streamWindow and connectionWindow are how many unread bytes gRPC buffers. Fixed ones keep it from raising them to
	// megabytes for a fast sender.
	streamWindow, connectionWindow = 256 << 10, 1 << 20
)

// bounds counts what a plugin's requests take. kill is called at most once, on its own goroutine.
type bounds struct {
	kill func(why error)

	under   atomic.Int64 // calls under way
	open    atomic.Int64
	memory  atomic.Int64 // bytes of open requests
	refused atomic.Int64 // requests opened and not admitted since the last call began
	unasked atomic.Int64 // bytes received while no call was under way, since the last one
}

func newBounds(kill func(error)) *bounds {
	var once sync.Once
	return &bounds{kill: func(why error) { once.Do(func() { go kill(why) }) }}
}

// begin records a call during which the plugin may ask, until end is called.
func (b *bounds) begin() (end func()) {
	b.refused.Store(0)
	b.unasked.Store(0)
	b.under.Add(1)
	return func() { b.under.Add(-1) }
}

func (b *bounds) serverOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxRequestMessage), grpc.MaxConcurrentStreams(maxRequests),
		grpc.InitialWindowSize(streamWindow), grpc.InitialConnWindowSize(connectionWindow),
		grpc.ConnectionTimeout(handshakeTimeout),
		// Called before anything of a request is read.
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

var errNoCall = fmt.Errorf("%w: no Compress is under way; host services exist during a Compress only",
	sdk.ErrNotGranted)

// handle runs the handler of a request unless too many are open, counting all connections: gRPC's bound of concurrent
// streams is per connection.
func (b *bounds) handle(f func() error) error {
	defer b.open.Add(-1)
	if b.open.Add(1) > maxRequests {
		return wire.ToStatus(fmt.Errorf("%w: %d requests are open already", sdk.ErrBudgetSpent, maxRequests))
	}
	return f()
}

// admitted records that a request names a call under way, within its budget. opened counted it before.
func (b *bounds) admitted() { b.refused.Add(-1) }

// opened records that a request arrived. It counts as refused until it is admitted.
func (b *bounds) opened() {
	if b.refused.Add(1) > maxRefused+maxRequests {
		b.kill(fmt.Errorf("it made more than %d requests in a row that the host refused", maxRefused))
	}
}

func (b *bounds) received(n int) {
	if b.under.Load() == 0 && b.unasked.Add(int64(n)) > maxUnasked {
		b.kill(fmt.Errorf("it sent the host more than %d MiB while no call was under way", maxUnasked>>20))
	}
}

var errMemory = errors.New("the requests that are open take too much memory")

// account is what one request takes, for one goroutine.
type account struct {
	of    *bounds
	taken int64
}

func (a *account) charge(n int) error {
	a.taken += int64(n)
	if a.of.memory.Add(int64(n)) > maxRequestMemory {
		a.of.kill(fmt.Errorf("its requests to the host took more than %d MiB of memory together", maxRequestMemory>>20))
		return errMemory
	}
	return nil
}

func (a *account) close() { a.of.memory.Add(-a.taken) }

func (a *account) limits() wire.Limits {
	return wire.Limits{Message: maxServiceBytes, Total: maxServiceBytes, Charge: a.charge}
}
