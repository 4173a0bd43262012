package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/internal/wire"
)

const (
	// drainTime is how long output is still read after the process ended, because a process that it started may hold
	// the pipe open.
	drainTime = 250 * time.Millisecond
	// killTime is how long the kernel may take to remove a process after SIGKILL, even on an overloaded machine.
	killTime = 2 * time.Second
	// dyingTime is how long a process that broke the connection may take to end by itself: its exit status explains
	// why.
	dyingTime = 100 * time.Millisecond

	// A binary that is still open for writing (ETXTBSY) is tried again.
	busyRetries = 10
	busyDelay   = 20 * time.Millisecond
)

// child is one operating system process of a plugin. It implements go-plugin's runner: go-plugin reads the handshake
// from it, and is otherwise kept away from the process (runner.go). Several goroutines use it; the fields of running
// and exit are valid once the channels in attempt and exit are closed, which replaces a lock.
type child struct {
	binary  *discover.Binary
	sandbox Sandbox
	spawner *Spawner
	log     hclog.Logger

	// env is the complete environment.
	env []string
	dir string // sockets, working directory, TMPDIR

	attempt attempt
	running
	handshake handshake
	listens   atomic.Pointer[os.File] // on Linux, the socket that it listens on; nil before the handshake
	stderr    tail
	quota     *logQuota
	exit      exit
}

// attempt tells whether Start was tried. Closing a spawner and starting a process may coincide, and exactly one must
// win. It is safe for concurrent use.
type attempt struct {
	settle func()        // records that Start has returned, or will never be called
	done   chan struct{} // closed by settle
}

// running is valid after attempt.done is closed.
type running struct {
	cmd      *exec.Cmd      // nil: it could not be started
	group    *isolate.Group // nil for none
	guard    *isolate.Guard // nil if nothing asks
	lifeline *os.File       // the host's end of the pipe: closing it tells the plugin to end
}

// exit is how the process ended.
type exit struct {
	done   chan struct{}          // closed once the process is gone and reaped, and its output read
	state  string                 // for people; valid after done
	killed atomic.Bool            // by the host, or by the kernel for a limit of the host's
	reason atomic.Pointer[string] // why, if it took too much; set before killed
	leave  func()                 // for an attached process: records that it is gone
}

func newChild(b *discover.Binary, sandbox Sandbox, log hclog.Logger, s *Spawner) *child {
	attempted := make(chan struct{})
	c := &child{
		binary: b, sandbox: sandbox, log: log, spawner: s,
		handshake: newHandshake(),
		quota:     newLogQuota(log, time.Now),
		attempt:   attempt{done: attempted, settle: sync.OnceFunc(func() { close(attempted) })},
	}
	c.exit.done = make(chan struct{})
	return c
}

// prepare sets what go-plugin decides: its variables, and the directory that it created for sockets.
func (c *child) prepare(goPluginEnv []string, dir string) {
	c.env, c.dir = append(childEnv(goPluginEnv, dir), c.sandbox.env()...), dir
}

// passedOn are the only variables of the host's environment that a plugin sees, for the language of texts and the time
// zone: the environment often holds secrets such as API keys.
var passedOn = []string{"LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ"}

// childEnv leaves out PATH and HOME.
func childEnv(goPlugin []string, dir string) []string {
	env := append([]string{}, goPlugin...)
	env = append(env, wire.EnvLifeline+"="+strconv.Itoa(isolate.LifelineFD))
	for _, key := range temporary {
		env = append(env, key+"="+dir)
	}
	for _, key := range passedOn {
		if value, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+value)
		}
	}
	return env
}

// Start retries for a moment while the binary is still open for writing: a start often follows a copy closely, and any
// fork of the host may hold the file open meanwhile.
func (c *child) Start(ctx context.Context) error {
	select {
	case <-c.attempt.done:
		return errors.New("the start was abandoned")
	default:
	}
	defer c.attempt.settle()
	for attempt := 0; ; attempt++ {
		err := c.start()
		if !errors.Is(err, syscall.ETXTBSY) || attempt == busyRetries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(busyDelay):
		}
	}
}

// start closes the child's ends of the pipes on success, so end-of-file arrives when the plugin closes its own.
func (c *child) start() (err error) {
	var files []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			if r, w, err = os.Pipe(); err == nil {
				files = append(files, r, w)
			}
		}
		return r, w
	}
	outR, outW := pipe()
	errR, errW := pipe()
	lifeR, lifeW := pipe()
	if err == nil {
		c.cmd, err = c.execute(outW, errW, lifeR)
	}
	if err != nil {
		for _, f := range files {
			_ = f.Close()
		}
		return err
	}
	for _, f := range []*os.File{outW, errW, lifeR} {
		_ = f.Close()
	}
	c.lifeline = lifeW
	c.log = c.log.With("pid", c.cmd.Process.Pid)
	go c.run(outR, errR)
	go c.watchUse()
	return nil
}

// execute starts the file that was opened and hashed, even if its path leads elsewhere by now.
func (c *child) execute(stdout, stderr, lifeline *os.File) (*exec.Cmd, error) {
	cmd, err := c.begin(stdout, stderr, lifeline)
	if err != nil {
		return nil, err
	}
	// The system lets no one write to a running program. This check covers the moments before.
	if err := c.binary.Untouched(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = c.group.Remove()
		return nil, err
	}
	return cmd, nil
}

// run drains both outputs until the process has ended, reaps it, and closes exit.done. No other goroutine calls Wait.
// The outputs are always read: a full pipe would block the plugin.
func (c *child) run(stdout, stderr *os.File) {
	outDone, errDone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(outDone)
		c.handshake.read(stdout, lineLogger{log: c.log.Named("stdout"), quota: c.quota})
	}()
	go func() {
		defer close(errDone)
		lines := lineLogger{log: c.log, quota: c.quota}
		eachLine(io.TeeReader(stderr, &c.stderr), maxLogLine, lines.line)
	}()

	// From here on the process is gone.
	reap(c.cmd)
	if c.group.OutOfMemory() {
		c.overran("it used more memory than its control group may, shared memory and the files in its private " +
			"directory included (plugins.maxMemoryBytes)")
	}
	if err := c.group.Remove(); err != nil {
		c.log.Warn("removing the plugin's control group failed", "error", err,
			"hint", "it is tried again when the host ends, and when one starts")
	}
	if c.guard != nil {
		c.guard.Close()
	}
	c.exit.state = c.cmd.ProcessState.String()
	if why := c.exit.reason.Load(); why != nil {
		c.exit.state = "killed by the host: " + *why
	}

	// A process that it started may hold the pipes open for as long as it lives.
	deadline := time.Now().Add(drainTime)
	_ = stdout.SetReadDeadline(deadline)
	_ = stderr.SetReadDeadline(deadline)
	<-outDone
	<-errDone
	c.quota.finish()
	_ = stdout.Close()
	_ = stderr.Close()
	_ = c.lifeline.Close()
	close(c.exit.done)
}

// started waits until it is decided whether there is a process. The wait is short: go-plugin calls Start before
// anything that takes time, and Start retries only briefly. After killTime the start is abandoned.
func (c *child) started() bool {
	select {
	case <-c.attempt.done:
		return c.cmd != nil
	case <-time.After(killTime):
		c.attempt.settle() // from now on, Start refuses
		return false
	}
}

// terminate ends the whole process group, and so programs that the plugin started: SIGTERM, and SIGKILL after grace.
// Without grace there is no SIGTERM. It returns when the process is gone or, if even SIGKILL does not help (a process
// in uninterruptible sleep), after a bounded time with an error.
func (c *child) terminate(grace time.Duration) error {
	if !c.started() {
		return nil
	}
	if grace > 0 && !c.gone(0) {
		_ = c.signal(syscall.SIGTERM) // an error means that it is gone
		if c.gone(grace) {
			return nil
		}
		c.log.Warn("plugin process did not end after SIGTERM, sending SIGKILL", "grace", grace)
	}
	return c.kill()
}

// overran records why a process is killed, and that it is the plugin's fault.
func (c *child) overran(why string) {
	c.log.Error("plugin takes more than it may and is killed", "why", why)
	c.exit.reason.Store(&why)
	c.exit.killed.Store(true)
}

func (c *child) condemn(why string) {
	c.overran(why)
	_ = c.kill() // Close reports what cannot be killed
}

// kill sends SIGKILL to the whole process group and waits for the process to be gone.
func (c *child) kill() error {
	if !c.gone(0) {
		c.exit.killed.Store(true)
		c.group.Kill()
		killGroup(c.cmd.Process)
	}
	if !c.gone(killTime) {
		return fmt.Errorf("process %d (%s) still exists after SIGKILL", c.cmd.Process.Pid, c.binary.Path)
	}
	return nil
}

// killedByOthers reports whether something other than the host sent SIGKILL, such as the OOM killer or a user: the
// plugin is not at fault then. It is false while the process exists.
func (c *child) killedByOthers() bool {
	if !c.gone(0) || c.exit.killed.Load() || c.cmd == nil {
		return false
	}
	return killedBySIGKILL(c.cmd.ProcessState)
}

// gone waits up to d for the process to have ended; 0 does not wait. A process that the kernel is removing by then gets
// the time that this takes.
func (c *child) gone(d time.Duration) bool {
	select {
	case <-c.exit.done:
		return true
	default:
	}
	if d == 0 {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.exit.done:
		return true
	case <-t.C:
	}
	if !c.ending() {
		return false
	}
	t.Reset(killTime)
	select {
	case <-c.exit.done:
		return true
	case <-t.C:
		return false
	}
}
