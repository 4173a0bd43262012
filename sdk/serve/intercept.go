package serve

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"regexp"
	"runtime/debug"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/internal/wire"
)

// streamWorkers is how many goroutines wait for calls: one that has served a call has the stack for the next. More
// calls at a time get a new one each. go-plugin's own streams hold two of these as long as the process lives.
const streamWorkers = 8

// serverOptions makes every handler return a status, even if it panics: one call fails, while the process and other
// sessions continue. A panic on a goroutine that a strategy started cannot be caught and ends the process.
func serverOptions(log *slog.Logger) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(wire.MaxGRPCMessage),
		grpc.StaticStreamWindowSize(wire.Window), grpc.StaticConnWindowSize(wire.Window),
		grpc.ReadBufferSize(wire.Buffer), grpc.NumStreamWorkers(streamWorkers),
		grpc.UnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo,
			handler grpc.UnaryHandler) (answer any, err error) {
			defer recovered(log, info.FullMethod, &err)
			answer, err = handler(ctx, req)
			return answer, wire.ToStatus(err)
		}),
		grpc.StreamInterceptor(func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo,
			handler grpc.StreamHandler) (err error) {
			defer recovered(log, info.FullMethod, &err)
			return wire.ToStatus(handler(srv, ss))
		}),
	}
}

func recovered(log *slog.Logger, method string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	method = path.Base(method)
	what := strings.ToValidUTF8(clipLog(fmt.Sprint(p)), "\ufffd")
	stack := panicStack(debug.Stack())
	log.Error("panic in "+method, "panic", what, "stack", stack)
	*err = status.Error(codes.Internal, fmt.Sprintf("panic in %s%s: %s", method, panicPlace(stack), what))
}

// panicPlace is where the panic was, as " (main.go:40)"; "" if the stack does not say.
func panicPlace(stack string) string {
	// Compiled here: no plugin should start later for a panic that it never has.
	place := regexp.MustCompile(`(?m)^\t.*?([^/\\\s]+\.go:\d+)`).FindStringSubmatch(stack)
	if place == nil {
		return ""
	}
	return " (" + place[1] + ")"
}

func panicStack(stack []byte) string {
	s := string(stack)
	if _, below, ok := strings.Cut(s, "\npanic("); ok {
		if _, rest, ok := strings.Cut(below, "\n"); ok { // its arguments
			if _, rest, ok = strings.Cut(rest, "\n"); ok { // its file
				return rest
			}
		}
	}
	return s
}
