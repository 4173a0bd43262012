package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/procs"
)

// options say what to run. lasts is how long plugins are disturbed; the checks after it take longer.
type options struct {
	thresh, plugins string // the program, and the directory with the plugins
	// lasts is how long plugins are disturbed. The run takes longer: sessions recover and close, and thresh ends.
	lasts    time.Duration
	sessions int    // at the same time; each agent has one after the other
	seed     uint64 // of all random choices
}

const (
	// callTimeout is the host's timeout for a call of a plugin. A plugin that is stopped for longer is replaced.
	callTimeout = 5 * time.Second
	// startTimeout is far above what a start takes, also on a busy machine: starts that time out lead to quarantine.
	// Far above a start on a quiet machine: many processes start at the same time here.
	startTimeout = 20 * time.Second
	// endTimeout is how long thresh may take to end at the end of its input. It is for hangs.
	endTimeout = time.Minute
)

// place is a directory of the run's own. Everything that thresh can leave behind is in it.
type place struct{ dir string }

// path returns a path in the place.
func (p place) path(elem ...string) string { return filepath.Join(append([]string{p.dir}, elem...)...) }

// run disturbs a 'thresh run' until ctx ends or the time is up, and reports what came of it. Its error means that
// there was no run.
func run(ctx context.Context, o options) (*report, error) {
	dir, err := os.MkdirTemp("", "chaos") // a short path: sockets are made below it
	if err != nil {
		return nil, err
	}
	// Last of all, after the checks have looked for what is left in it.
	defer os.RemoveAll(dir) // at the very end: what is left in it is looked at before
	p, r := place{dir}, newReport(o)
	if err := p.furnish(o); err != nil {
		return nil, err
	}
	cmd, c, err := p.start()
	if err != nil {
		return nil, err
	}
	// The time counts from here: laying out the programs takes longer than a run in the tests on a busy machine.
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, o.lasts)
	defer cancel()
	var agents, monkeys sync.WaitGroup
	monkeys.Go(func() {
		m := &monkey{
			plugins: p.path("plugins"), away: p.path("away"), tmp: p.path("tmp"),
			client: c, report: r, rnd: random(o.seed, 0),
		}
		m.disturb(ctx)
	})
	for i := range o.sessions {
		agents.Go(func() {
			a := &agent{client: c, report: r, logs: p.path("log"), number: i, rnd: random(o.seed, uint64(i+1))}
			// Every agent waits for the end of the disturbance before its last checks.
			if err := a.work(ctx, monkeys.Wait); err != nil {
				r.fault(ending, "agent %d: %v", i, err)
			}
		})
	}
	// Agents wait for the monkey by themselves, and go on when it is done: only then must everything work.
	agents.Wait()
	monkeys.Wait()
	// With the recovery, but without the end of thresh.
	r.took = time.Since(begin)
	p.end(cmd, c, r)
	return r, nil
}

// random returns the random choices of one part of the run. Each has its own, as they run at the same time. random
// gives each agent and the monkey a sequence of its own, so that their number does not shift the others' choices.
func random(seed, of uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, of)) }

// furnish lays out the programs as a release has them: plugins next to the program are trusted like it, in every
// version, where others would be refused after they were replaced. They are copies, as they get changed.
func (p place) furnish(o options) error {
	// tmp is TMPDIR of thresh: sockets and run directories must be gone from it at the end.
	for _, sub := range []string{"plugins", "away", "tmp", "home", "log"} {
		if err := os.Mkdir(p.path(sub), 0o700); err != nil {
			return err
		}
	}
	err := copyFile(o.thresh, p.path("thresh"))
	for _, name := range strategies {
		err = errors.Join(err, copyFile(filepath.Join(o.plugins, prefix+name), p.path("plugins", prefix+name)))
	}
	return err
}

// copyFile copies a program.
func copyFile(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o755)
}

// start starts thresh with an environment of the place alone, in a process group of its own: Ctrl-C must not reach it.
func (p place) start() (*exec.Cmd, *client, error) {
	args := []string{"run", "--plugin-dir", p.path("plugins")}
	// The limit is small enough for each session to be compressed many times, and large enough for some turns between.
	for key, value := range map[string]any{
		// A small window and a low threshold: sessions are compressed every few dozen entries.
		"transcript.dir": p.path("log"), "model.contextLimit": 30_000, "compression.threshold": 0.15,
		"compression.density.cadence": "every-turn", // or most turns would change nothing
		"plugins.startTimeout":        startTimeout, "plugins.optimizeTimeout": callTimeout,
		"plugins.compressTimeout": callTimeout, "log.level": "error",
	} {
		args = append(args, "--set", fmt.Sprintf("%s=%v", key, value))
	}
	cmd := exec.Command(p.path("thresh"), args...)
	cmd.Dir, cmd.Env = p.dir, []string{"HOME=" + p.path("home"), "TMPDIR=" + p.path("tmp")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Its end is how the run tells thresh to end.
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	// To a file and not a pipe: a host whose log is not read would block, and that is not what is tested.
	log, err := os.Create(p.path("stderr"))
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	return cmd, newClient(in, out), nil
}

// end ends thresh as an agent does that is done: it closes the input. Then nothing may be left of it: no process that
// has its temporary directory in the environment, as all plugins have, and no run directory with sockets and locks.
func (p place) end(cmd *exec.Cmd, c *client, r *report) {
	// The regular end, as the agent's process would cause it by exiting.
	_ = c.in.Close()
	stuck := time.AfterFunc(endTimeout, func() {
		r.fault(ending, "thresh did not end within %v of its input", endTimeout)
		_ = cmd.Process.Signal(syscall.SIGQUIT) // which prints all stacks
	})
	<-c.done // Wait closes the pipe, which must have been read by then
	if err := cmd.Wait(); err != nil {
		r.fault(ending, "thresh: %v", err)
	}
	stuck.Stop()
	// Found by their environment, as orphans have lost their parent.
	for pid, env := range procs.With("TMPDIR=" + p.path("tmp")) {
		r.fault(leftover, "process %d: %s", pid, env)
		_ = syscall.Kill(pid, syscall.SIGKILL) // it is reported; nothing else would end it
	}
	left, err := os.ReadDir(p.path("tmp"))
	if err != nil {
		r.fault(ending, "%v", err)
	}
	for _, e := range left {
		r.fault(leftover, "%s", p.path("tmp", e.Name()))
	}
	p.readLog(r)
}

// readLog looks in what thresh wrote to its standard error for what a host that works never writes. Errors of plugins
// are expected there.
func (p place) readLog(r *report) {
	f, err := os.Open(p.path("stderr"))
	if err != nil {
		r.fault(ending, "%v", err)
		return
	}
	defer f.Close()
	const most = 64 << 20 // a host that logs without end must not take the driver's memory
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		r.fault(ending, "%v", err)
	}
	// At the beginnings of lines, since the text of errors may quote such words.
	for _, sign := range []string{"panic: ", "fatal error: ", "WARNING: DATA RACE", "SIGQUIT"} {
		if at := strings.Index("\n"+string(text), "\n"+sign); at >= 0 {
			r.fault(ending, "thresh printed: %.2000s", text[at:])
		}
	}
}
