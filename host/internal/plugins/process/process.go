package process

import (
	"crypto/tls"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/rundir"
	"github.com/thresh-dev/thresh/internal/text"
)

// goPluginTime bounds go-plugin's cleanup after a process that is gone: its Kill has no deadline.
const goPluginTime = time.Second

// Process is a plugin's process that has completed go-plugin's handshake. It is safe for concurrent use. Close it even
// if it has ended by itself: its directory and connection remain until then.
type Process struct {
	spec   Spec
	child  *child
	client *plugin.Client
	conn   *connection
	tls    *tls.Config // nil: the connection is in a private directory
	// printed is what came to standard output in go-plugin's stream.
	printed stdioLogger
	// watched is set if a broken connection shows the end of an attached process; see ConnectionIsUp.
	watched bool
}

func (p *Process) Binary() *discover.Binary { return p.spec.Binary }

func (p *Process) Sandbox() Sandbox { return p.spec.Sandbox }

// Log returns the logger for events of the process. Its lines carry the process id.
func (p *Process) Log() hclog.Logger { return p.child.log }

// Conn returns the connection to the plugin's services. It is open until Close.
func (p *Process) Conn() *grpc.ClientConn { return p.conn.conn }

// PID returns 0 for an attached process.
func (p *Process) PID() int {
	if p.child.cmd == nil {
		return 0
	}
	return p.child.cmd.Process.Pid
}

// Dir returns the process's private directory: its sockets, working directory and TMPDIR. Close removes it.
func (p *Process) Dir() string { return p.child.dir }

// HandshakeLine returns the line in which the plugin announced its address; "" for an attached process.
func (p *Process) HandshakeLine() string {
	if p.child.handshake.complete() {
		return p.child.handshake.line
	}
	return ""
}

// Noise returns how many lines other than the handshake the process printed to standard output, and the first few of
// them. Call it after the process has ended.
func (p *Process) Noise() (lines int, first []string) {
	h := &p.child.handshake
	lines, first = p.printed.came()
	return lines + h.others, slices.Concat(h.noise, h.late, first)
}

// Exited is closed when the process has ended, was reaped, and its output was read.
func (p *Process) Exited() <-chan struct{} { return p.child.exit.done }

// Gone waits up to d for the process to have ended, longer if the kernel is removing it by then; 0 does not wait.
func (p *Process) Gone(d time.Duration) bool { return p.child.gone(d) }

// ExitState describes how the process ended, for people. Call it after the process has ended.
func (p *Process) ExitState() string { return p.child.exit.state }

// Refused says which grants could help a process that was refused something; "" if it names no such thing itself.
func (p *Process) Refused() string { return p.child.refusedHint() }

// ExitCode returns -1 for a process that a signal ended. Call it after the process has ended.
func (p *Process) ExitCode() int { return p.child.cmd.ProcessState.ExitCode() }

// KilledByOthers reports whether something other than the host killed the process with SIGKILL.
func (p *Process) KilledByOthers() bool { return p.child.killedByOthers() }

// Stderr returns the end of the process's standard error, at most 8 KiB, safe to print.
func (p *Process) Stderr() string { return text.Lines(p.child.stderr.String(), maxLogLine) }

func (p *Process) Signal(s syscall.Signal) error { return p.child.signal(s) }

// Kill sends SIGKILL to the whole process group and waits for the process to be gone.
func (p *Process) Kill() error { return p.child.kill() }

// BreakLifeline makes the process believe that its host was killed, for the conformance suite.
func (p *Process) BreakLifeline() { _ = p.child.lifeline.Close() }

// Close ends the process and removes its remains, in bounded time: SIGTERM, then SIGKILL after grace. Without grace
// there is no SIGTERM. An attached process only loses its connection.
func (p *Process) Close(grace time.Duration) {
	// An attached process that never answered has no connection whose end could tell that it is gone.
	if p.spec.Binary.Attached && !p.watched {
		p.child.exit.leave()
	}
	if err := p.child.terminate(grace); err != nil {
		p.child.log.Error("plugin process cannot be ended", "error", err)
	}
	// The process is gone already; Kill ends go-plugin's goroutines and closes the connection.
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		p.client.Kill()
	}()
	select {
	case <-killed:
	case <-time.After(goPluginTime):
		p.child.log.Warn("go-plugin did not finish cleaning up in time", "timeout", goPluginTime)
	}
	if socket := p.child.listens.Load(); socket != nil {
		_ = socket.Close() // go-plugin does not connect any more
	}
	if dir := p.child.dir; dir != "" {
		if err := rundir.RemoveAll(dir); err != nil {
			p.child.log.Warn("removing the plugin's run directory failed", "error", err)
		}
	}
	p.child.log.Debug("plugin process ended", "state", p.child.exit.state)
}

func (p *Process) Failure(op fault.Op, err error, hint string) *fault.Error {
	return p.spec.Binary.Failure(op, err, hint)
}

// AddStderr adds the end of standard error to err and returns it. Call it after the process has ended: only then is the
// output complete.
func (p *Process) AddStderr(err error) error {
	if failure, ok := errors.AsType[*fault.Error](err); ok {
		failure.Stderr = p.Stderr()
	}
	return err
}
