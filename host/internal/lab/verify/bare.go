package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
)

// bare is a process of the plugin without a host between: what it does is seen as it is. It gets what the protocol says
// that a plugin gets.
type bare struct {
	cmd      *exec.Cmd
	dir      string
	lifeline *os.File // the writing end; closed: the host is gone
	out      *stdout
	stderr   tail
	exited   chan struct{} // closed when it was reaped and its output read; then cmd.ProcessState is valid

	conn   *grpc.ClientConn
	client threshv1.StrategyServiceClient
	host   *bareHost
}

// spawn starts the plugin and waits for its handshake line. Whoever gets the process ends it.
func (s *suite) spawn(ctx context.Context) (*bare, error) {
	if s.broken {
		return nil, errNoStart
	}
	ctx, cancel := context.WithTimeout(ctx, s.bounds.start)
	defer cancel()
	p := &bare{out: newStdout(), exited: make(chan struct{})}
	if err := p.start(s.path, s.base); err != nil {
		s.broken = true
		return nil, err
	}
	if err := p.shake(ctx, s.bounds.start); err != nil {
		p.end()
		s.broken = true
		return nil, p.withStderr(err)
	}
	return p, nil
}

func (p *bare) start(path, base string) (err error) {
	if p.dir, err = os.MkdirTemp(base, "p"); err != nil {
		return err
	}
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
		p.cmd = exec.Command(path)
		p.cmd.Env, p.cmd.Dir = environment(p.dir), p.dir
		p.cmd.Stdout, p.cmd.Stderr, p.cmd.ExtraFiles = outW, errW, []*os.File{lifeR}
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		err = p.cmd.Start()
	}
	if err != nil {
		for _, f := range files {
			_ = f.Close()
		}
		return errors.Join(fmt.Errorf("starting %s: %w", path, err), os.RemoveAll(p.dir))
	}
	for _, f := range []*os.File{outW, errW, lifeR} {
		_ = f.Close()
	}
	p.lifeline = lifeW
	go p.run(outR, errR)
	return nil
}

// environment is all of the environment, as the protocol has it. Descriptor 3 is the first after the standard ones.
func environment(dir string) []string {
	return []string{
		wire.CookieKey + "=" + wire.CookieValue, "PLUGIN_PROTOCOL_VERSIONS=1", "PLUGIN_UNIX_SOCKET_DIR=" + dir,
		"PLUGIN_MIN_PORT=10000", "PLUGIN_MAX_PORT=25000", wire.EnvLifeline + "=3", "TMPDIR=" + dir,
	}
}

// drain is how long output is read after the process has ended, in case something that it started holds it open.
const drain = 250 * time.Millisecond

func (p *bare) run(outR, errR *os.File) {
	outDone, errDone := make(chan struct{}), make(chan struct{})
	go func() { defer close(outDone); p.out.read(outR) }()
	go func() { defer close(errDone); _, _ = io.Copy(&p.stderr, errR) }()
	_ = p.cmd.Wait()
	p.killGroup() // what it started
	deadline := time.Now().Add(drain)
	_ = outR.SetReadDeadline(deadline)
	_ = errR.SetReadDeadline(deadline)
	<-outDone
	<-errDone
	_ = outR.Close()
	_ = errR.Close()
	close(p.exited)
}

func (p *bare) killGroup() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// end ends the process, if need be, and removes what is left of it.
func (p *bare) end() {
	if p.conn != nil {
		_ = p.conn.Close()
	}
	if p.host != nil {
		p.host.stop()
	}
	p.killGroup()
	<-p.exited
	_ = p.lifeline.Close()
	_ = os.RemoveAll(p.dir)
}

// gone waits for the process to end, and reports whether it did in time.
func (p *bare) gone(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
		return false
	}
}

// withStderr adds the last line of standard error to what is wrong. The process has ended.
func (p *bare) withStderr(err error) error {
	lines := strings.Split(strings.TrimSpace(p.stderr.String()), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fmt.Errorf("%w; its standard error ends with %q", err, oneLine(last, 200))
	}
	return err
}

var handshakeLine = regexp.MustCompile(`^1\|1\|unix\|([^|]+)\|grpc(\|.*)?$`)

// shake waits for the handshake line, judges it, and connects.
func (p *bare) shake(ctx context.Context, limit time.Duration) error {
	select {
	case <-p.out.first:
	case <-p.exited:
		return fmt.Errorf("it ended (%v) without a handshake line%s", p.cmd.ProcessState, p.out.printed())
	case <-ctx.Done():
		if context.Cause(ctx) == context.DeadlineExceeded {
			return fmt.Errorf("no handshake line within %v%s", limit, p.out.printed())
		}
		return ctx.Err()
	}
	m := handshakeLine.FindStringSubmatch(p.out.handshake)
	if m == nil {
		return fmt.Errorf("the handshake line is %q, not 1|1|unix|<path>|grpc", oneLine(p.out.handshake, 200))
	}
	if rel, err := filepath.Rel(p.dir, m[1]); err != nil || strings.HasPrefix(rel, "..") {
		return fmt.Errorf("its socket %q is not in PLUGIN_UNIX_SOCKET_DIR", oneLine(m[1], 200))
	}
	conn, err := grpc.NewClient("unix:"+m[1], grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(wire.MaxGRPCMessage)))
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", m[1], err)
	}
	p.conn, p.client = conn, threshv1.NewStrategyServiceClient(conn)
	return nil
}
