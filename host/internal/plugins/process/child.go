package plugins

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

	"github.com/thresh-dev/thresh/internal/wire"
)

const (
	// drainTime is how long output is still read after the process ended, in case something that it started holds it open.
	drainTime = 250 * time.Millisecond
	// killTime is how long a process may take to be gone after SIGKILL.
	killTime = 2 * time.Second
	// dyingTime is how long a process that cannot be talked to may take to be gone by itself: how it ended says why.
	dyingTime = 100 * time.Millisecond

	busyRetries = 10
	busyDelay   = 20 * time.Millisecond
)

// child is one process of a plugin, from its start to its end. It is go-plugin's runner: go-plugin reads the handshake from
// it, and is otherwise kept away from the process.
type child struct {
	binary  *binary
	cage    cage
	path    string
	env     []string
	dir     string // sockets, working directory, TMPDIR
	log     hclog.Logger
	starter *starter

	leave     func()        // of an attached process: says that it is gone; see attach.go
	settle    func()        // says that Start is through, or will never be called
	attempted chan struct{} // closed by settle; what follows is valid from then on
	cmd       *exec.Cmd     // nil: it could not be started
	lifeline  *os.File      // the end that the host holds; closed: the plugin knows that it must go
	handshake handshake     // what it wrote to its standard output
	stderr    tail          // the end of what it wrote to its standard error
	exited    chan struct{} // closed once the process is gone and reaped, and its output read
	state     string        // how it ended, for people; valid after exited
	killed    atomic.Bool   // the host killed it, or tried to
}

func newChild(b *binary, cage cage, log hclog.Logger, s *starter) *child {
	attempted := make(chan struct{})
	return &child{
		binary: b, cage: cage, path: b.path, log: log, starter: s,
		handshake: newHandshake(),
		attempted: attempted,
		settle:    sync.OnceFunc(func() { close(attempted) }),
		exited:    make(chan struct{}),
	}
}

// prepare sets what go-plugin decides: its part of the environment, and the directory for sockets that it made.
func (c *child) prepare(goPluginEnv []string, dir string) {
	c.env, c.dir = append(childEnv(goPluginEnv, dir), c.cage.env()...), dir
}

// passedOn are the host's environment variables that a plugin gets to see: what its texts and times look like, no more.
var passedOn = []string{"LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ"}

// childEnv is the whole environment of a plugin: go-plugin's variables, the lifeline, and a few of the host's.
func childEnv(goPlugin []string, dir string) []string {
	env := append([]string{}, goPlugin...)
	env = append(env, wire.EnvLifeline+"="+strconv.Itoa(lifelineFD), "TMPDIR="+dir)
	for _, key := range passedOn {
		if value, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+value)
		}
	}
	return env
}

// lifelineFD is the descriptor of the lifeline in the child: the first after the standard three.
const lifelineFD = 3

// Start starts the process. A binary that is still open for writing somewhere is tried again for a moment: copying it
// and starting it often follow each other closely, and any fork of the host may hold it open meanwhile.
func (c *child) Start(ctx context.Context) error {
	select {
	case <-c.attempted:
		return errors.New("nobody waits for it any more")
	default:
	}
	defer c.settle()
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
	return nil
}

// execute starts the binary that was opened, whatever stands under its path by now.
func (c *child) execute(stdout, stderr, lifeline *os.File) (*exec.Cmd, error) {
	begin := c.begin
	if len(c.cage.apply) > 0 {
		begin = c.launch
	}
	cmd, err := begin(stdout, stderr, lifeline)
	if err != nil {
		return nil, err
	}
	// Nobody can write to a program that runs; this is about the moments before.
	if err := c.binary.untouched(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	return cmd, nil
}

// begin starts the opened binary without isolating it.
func (c *child) begin(stdout, stderr, lifeline *os.File) (*exec.Cmd, error) {
	path, inherit, done, err := c.binary.executable(c.dir, lifelineFD+1)
	if err != nil {
		return nil, err
	}
	defer done()
	cmd := &exec.Cmd{Path: path, Args: []string{c.path}, Env: c.env, Dir: c.dir, Stdout: stdout, Stderr: stderr} // no Stdin: /dev/null
	cmd.ExtraFiles = append([]*os.File{lifeline}, inherit...)
	cmd.SysProcAttr = processAttributes()
	return cmd, c.starter.start(cmd)
}

// run reads the output until the process has ended, then reaps it.
func (c *child) run(stdout, stderr *os.File) {
	outDone, errDone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(outDone)
		c.handshake.read(stdout, c.log.Named("stdout"))
	}()
	go func() {
		defer close(errDone)
		lines := lineLogger{log: c.log}
		eachLine(io.TeeReader(stderr, &c.stderr), maxLogLine, lines.line)
	}()

	reap(c.cmd)
	c.state = c.cmd.ProcessState.String()

	deadline := time.Now().Add(drainTime)
	_ = stdout.SetReadDeadline(deadline)
	_ = stderr.SetReadDeadline(deadline)
	<-outDone
	<-errDone
	_ = stdout.Close()
	_ = stderr.Close()
	_ = c.lifeline.Close()
	close(c.exited)
}

// started waits until it is clear whether there is a process, and reports it. The wait is short: go-plugin calls Start
// before anything else that takes time, and Start only tries for a moment.
func (c *child) started() bool {
	select {
	case <-c.attempted:
		return c.cmd != nil
	case <-time.After(killTime):
		c.settle() // too late now
		return false
	}
}

// terminate asks the process to go, then makes it: SIGTERM, after grace SIGKILL, both to its whole group. Without
// grace, it is not asked. It returns when the process is gone, or, if even SIGKILL does not end it, after a bounded time with an error.
func (c *child) terminate(grace time.Duration) error {
	if !c.started() {
		return nil
	}
	if grace > 0 && !c.gone(0) {
		terminateGroup(c.cmd.Process)
		if c.gone(grace) {
			return nil
		}
		c.log.Warn("the plugin did not end when asked to, killing it", "grace", grace)
	}
	return c.kill()
}

func (c *child) kill() error {
	if !c.gone(0) {
		c.killed.Store(true)
		killGroup(c.cmd.Process)
	}
	if !c.gone(killTime) {
		return fmt.Errorf("process %d (%s) does not end even when killed", c.cmd.Process.Pid, c.path)
	}
	return nil
}

// killedByOthers reports whether the process was killed, and not by the host. Give it time to be gone before.
func (c *child) killedByOthers() bool {
	if !c.gone(0) || c.killed.Load() || c.cmd == nil {
		return false
	}
	status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// gone waits up to d for the process to have ended.
func (c *child) gone(d time.Duration) bool {
	select {
	case <-c.exited:
		return true
	default:
	}
	if d == 0 {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.exited:
		return true
	case <-t.C:
		return false
	}
}
