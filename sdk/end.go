package sdk

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

// stopGrace is how long a stopped server has before the process exits all the same.
const stopGrace = time.Second

// ending stops the server when the process has to go.
type ending struct {
	mu     sync.Mutex
	server *grpc.Server
	over   bool
}

// watchEnd watches for SIGTERM and for the end of the lifeline. The lifeline is the only sign of a host that was
// killed: the socket stays open as long as any connection to it may come back.
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
		return nil, fmt.Errorf("%s is %q, which is no descriptor", wire.EnvLifeline, v)
	}
	if _, err := f.Stat(); err != nil {
		return nil, fmt.Errorf("%s is %q, which is no open descriptor: %w", wire.EnvLifeline, v, err)
	}
	return f, nil
}

// stops makes the server the one to be stopped.
func (e *ending) stops(server *grpc.Server) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.server = server
	if e.over {
		server.Stop()
	}
}

// end stops the server, upon which go-plugin removes its socket and Serve returns. A process that has no server yet, or
// whose server does not stop, exits at once or after stopGrace.
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
