package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/plugins/client"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/internal/wire"
	"github.com/thresh-dev/thresh/sdk"
)

// raw is a process of the plugin without supervision, so its behaviour is seen as it is: no restart, no draining
// of output, no shutdown sequence. It is started as the host starts its processes, except that it is not isolated: a
// sandbox would hide some faults and cause others that the author cannot see.
type raw struct {
	*process.Process
	rpc  *client.Raw
	host *conform.Host // what the plugin can ask for; nil before Configure
	// Nil before Configure.
	stopServices func() // ends the services
}

// spawn starts the plugin and completes the handshake. The caller must call end. After a failure the suite is marked
// broken, and all later checks are skipped instead of repeating the same error after the same timeout.
func (s *suite) spawn(ctx context.Context) (*raw, error) {
	if s.broken {
		return nil, errNoStart
	}
	// The deadline is the host's own for a start.
	ctx, cancel := client.WithTimeout(ctx, s.bounds.start)
	defer cancel()
	proc, err := s.spawner.Start(ctx, process.Spec{
		Binary: s.binary, StartTimeout: s.bounds.start, Log: s.log.Named("plugin"),
	})
	if err != nil {
		s.broken = true
		return nil, withStderr(err)
	}
	p := &raw{Process: proc, rpc: client.NewRaw(proc)}
	// go-plugin has accepted the line by now; this is about what the thresh protocol asks in addition.
	if !isHandshake(proc.HandshakeLine()) {
		p.end()
		s.broken = true
		return nil, fmt.Errorf(
			"the handshake line is %q, not 1|1|unix|<path>|grpc", text.OneLine(proc.HandshakeLine(), 200))
	}
	return p, nil
}

// isHandshake reports whether a line is go-plugin's handshake: core protocol version, application protocol version,
// network, address, RPC protocol, and optionally a certificate. It is stricter than go-plugin: the thresh protocol
// demands a Unix socket, because a TCP port would be open to every user of the machine.
func isHandshake(line string) bool {
	f := strings.SplitN(line, "|", 6)
	return len(f) >= 5 && f[0] == "1" && f[1] == "1" && f[2] == "unix" && f[3] != "" && f[4] == "grpc"
}

// end kills the process if it is still running and removes its socket and directory. It may be called more than once.
func (p *raw) end() {
	if p.stopServices != nil {
		p.stopServices()
	}
	p.Close(0)
}

// withStderr reduces an error about a start to one line and adds the last line of the plugin's standard error, where
// most languages print the reason of a crash.
func withStderr(err error) error {
	failure, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	// One line is enough to recognise the cause, and a report has one line per check.
	lines := strings.Split(strings.TrimSpace(failure.Stderr), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fmt.Errorf("%w; last line of its standard error: %q", failure.Err, text.OneLine(last, 200))
	}
	return failure.Err
}

// getInfo asks for the plugin's description. It fails if the answer cannot be decoded; whether a host would accept it
// is for checkGetInfo.
func (p *raw) getInfo(ctx context.Context) (client.Declaration, error) {
	info, err := p.rpc.GetInfo(ctx, "verify")
	return info, answered("GetInfo", err)
}

// configure offers host services and sends settings, a JSON object in the good case. hold, if not nil, blocks calls of
// the model. The services outlive calls until end: unlike in the host they are not tied to a call, so a request that
// the plugin fails to cancel stays visible.
func (p *raw) configure(ctx context.Context, info sdk.Info, settings []byte, hold chan struct{}) error {
	around, err := conform.Standard(info)
	if err != nil {
		return err
	}
	host := around.Host(info)
	host.Hold, host.Reached = hold, make(chan struct{}, 1)
	id, stop, err := p.rpc.Serve(ctx, host)
	if err != nil {
		return fmt.Errorf("opening go-plugin's broker: %w", err)
	}
	p.host, p.stopServices = host, stop
	return answered("Configure", p.rpc.Configure(ctx, wire.Configuration{
		// Little logging: these checks provoke errors by the hundred.
		HostServiceID: id, Config: settings, LogLevel: "error",
	}))
}

// ready is a raw process that has described itself and accepted its settings, so calls may be made.
type ready struct {
	*raw
	info client.Declaration
	took time.Duration // from the start of the process to the accepted Configure
}

// up starts a raw process and brings it to ready, with its own defaults as settings. End it.
func (s *suite) up(ctx context.Context) (ready, error) { return s.upHolding(ctx, nil) }

// upHolding is up with a model that answers once hold is closed. One deadline covers the whole start, as in the host;
// an error includes what the plugin wrote to standard error.
func (s *suite) upHolding(ctx context.Context, hold chan struct{}) (ready, error) {
	start := time.Now()
	p, err := s.spawn(ctx)
	if err != nil {
		return ready{}, err
	}
	ctx, cancel := context.WithDeadline(ctx, start.Add(s.bounds.start))
	defer cancel()
	info, err := p.getInfo(ctx)
	if err == nil {
		err = p.configure(ctx, info.Info, conform.Settings(info.Info, "", nil), hold)
	}
	if err != nil {
		p.end()
		s.broken = true
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("it was not ready within %v: %w", s.bounds.start, err)
		}
		return ready{}, withStderr(p.AddStderr(p.Failure(fault.OpConfigure, err, "")))
	}
	return ready{p, info, time.Since(start)}, nil
}
