package serve

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"github.com/thresh-dev/thresh/internal/wire"
)

// stopGrace is how long the process waits for a stopped server before it exits anyway.
const stopGrace = time.Second

// ending stops the server when the process must end. The signal and the lifeline may arrive before there is a server,
// and together; mu guards both fields.
type ending struct {
	mu     sync.Mutex
	server *grpc.Server
	over   bool
}

// watchEnd watches for SIGTERM and for the end of the lifeline, the only sign of a host that was killed: gRPC keeps the
// socket open and waits for connections.
func watchEnd(log *slog.Logger) (*ending, error) {
	e := &ending{}
	if v := os.Getenv(wire.EnvLifeline); v != "" {
		lifeline, err := openLifeline(v)
		if err != nil {
			return nil, err
		}
		go func() {
			_, err := io.Copy(io.Discard, lifeline) // what the host writes means nothing
			log.Debug("the host is gone", "error", err)
			e.end()
		}()
	}
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	go func() {
		<-term
		e.end()
	}()
	return e, nil
}

// openLifeline opens the inherited descriptor with the number v. A wrong number is an error at once: a plugin that
// cannot notice the end of its host would outlive it.
func openLifeline(v string) (*os.File, error) {
	fd, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		return nil, fmt.Errorf("%s is %q, not the number of a descriptor", wire.EnvLifeline, v)
	}
	f := os.NewFile(uintptr(fd), "lifeline")
	if f == nil {
		return nil, fmt.Errorf("%s is %q, which is not a descriptor", wire.EnvLifeline, v)
	}
	if _, err := f.Stat(); err != nil {
		return nil, fmt.Errorf("%s is %q, which is not an open descriptor: %w", wire.EnvLifeline, v, err)
	}
	return f, nil
}

func (e *ending) stops(server *grpc.Server) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.server = server
	if e.over {
		server.Stop()
	}
}

// soon ends the process when the call that found it useless has its answer.
func (e *ending) soon() { time.AfterFunc(stopGrace, e.end) }

// end stops the server; go-plugin then removes its socket and Serve returns. Without a server the process exits at
// once; if the server does not stop, after stopGrace.
func (e *ending) end() {
	e.mu.Lock()
	server := e.server
	e.over = true
	e.mu.Unlock()
	if server == nil {
		os.Exit(exitDone)
	}
	time.AfterFunc(stopGrace, func() { os.Exit(exitDone) })
	server.Stop()
}
