package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/procs"
)

const prefix = "thresh-strategy-"

// monkey disturbs plugins: their processes, as the OOM killer or an overloaded machine would, their files, as an
// installer or an administrator would, and their run directories, as a cleaner of temporary files would.
type monkey struct {
	plugins, away string // directories: of the plugins, and for those that are taken away for a while
	tmp           string // the host's temporary directory
	client        *client
	report        *report
	rnd           *rand.Rand
	// Everything that is taken away or stopped is given back, also at the end of the run.
	pending sync.WaitGroup // what is to be undone

	// mu guards absent and the files in plugins and away.
	mu     sync.Mutex
	absent map[string]bool // strategies whose file is away
}

// disturb goes on until ctx ends. When it returns, everything is as it was before: stopped processes go on, files are
// back, and no delay or quarantine is left, so that every session must work again.
func (m *monkey) disturb(ctx context.Context) {
	m.absent = map[string]bool{}
	for {
		select {
		// Everything is undone before the plugins get another chance.
		case <-ctx.Done():
			m.pending.Wait()
			for _, name := range strategies {
				m.reset(name)
			}
			return
		case <-time.After(m.between(10, 120)):
		}
		// Neither sessions nor times are chosen by what the host is doing: every step of a start and a call gets hit.
		name := strategies[m.rnd.IntN(len(strategies))]
		if m.rnd.IntN(4) > 0 {
			// Otherwise the growing delays after crashes would leave nothing to disturb. A quarter of the time they are
			// left to grow, up to quarantine.
			m.reset(name)
		}
		// Kills are the most frequent, as they are in production.
		switch n := m.rnd.IntN(20); {
		case n < 10:
			m.signal(name, "killed", syscall.SIGKILL)
		case n < 15:
			m.stop(ctx, name)
		case n < 17:
			m.replace(name)
		case n < 18:
			m.clean()
		default:
			m.remove(ctx, name)
		}
	}
}

// reset ends the delay after a crash, and quarantine. It fails only if thresh is gone, which every agent reports.
func (m *monkey) reset(name string) {
	_ = m.client.call("plugins.reset", map[string]any{"name": name}, nil)
}

// between is a random time in milliseconds.
func (m *monkey) between(least, most int) time.Duration {
	return time.Duration(least+m.rnd.IntN(most-least)) * time.Millisecond
}

// signal sends a signal to a process of the strategy, if there is one, and returns its id.
func (m *monkey) signal(name, how string, s syscall.Signal) int {
	// Several may run for a moment, a new version next to the old one; which of them is hit is left to chance. Only
	// processes from the run's own directory: another host on the machine is left alone.
	for pid, command := range procs.Running(m.plugins) {
		if strings.HasPrefix(command, filepath.Join(m.plugins, prefix+name)) && syscall.Kill(pid, s) == nil {
			m.report.struck(how)
			return pid
		}
	}
	return 0
}

// stop stops a process, usually for less and sometimes for more than the host's timeout.
func (m *monkey) stop(ctx context.Context, name string) {
	d := m.between(50, 1500) // as a busy machine or a suspended laptop does
	// Longer than the timeout, so that the host has to kill the process itself.
	if m.rnd.IntN(6) == 0 {
		d += callTimeout
	}
	pid := m.signal(name, "stopped", syscall.SIGSTOP)
	if pid == 0 {
		return
	}
	m.later(ctx, d, func() {
		if _, ok := procs.Running(m.plugins)[pid]; ok { // the id may be another process's by now
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	})
}

// replace puts a new version in the place of a file: bytes after the end of a program change nothing that it does.
func (m *monkey) replace(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	path := filepath.Join(m.plugins, prefix+name)
	// The checksum changes, so that the host has to take it for a new version.
	program, err := os.ReadFile(path)
	if err != nil {
		return // it is away, and comes back as it was
	}
	// Written elsewhere and renamed into place, as the documentation tells installers to do.
	next := filepath.Join(m.away, "next")
	if err = os.WriteFile(next, fmt.Appendf(program, "\n%d", m.rnd.Uint64()), 0o755); err == nil {
		// In one step, as installers do. A file that is half written is another test.
		err = os.Rename(next, path)
	}
	if err != nil {
		m.report.fault(ending, "replacing a plugin: %v", err)
		return
	}
	m.report.struck("replaced")
}

// remove takes a file away for a while.
func (m *monkey) remove(ctx context.Context, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// It is away already.
	if m.absent[name] {
		return
	}
	// While it is away the strategy is unknown, and its sessions fail. What they added in the meantime must be there
	// later.
	path, away := filepath.Join(m.plugins, prefix+name), filepath.Join(m.away, name)
	if err := os.Rename(path, away); err != nil {
		m.report.fault(ending, "removing a plugin: %v", err)
		return
	}
	m.absent[name] = true
	m.report.struck("removed and put back")
	m.later(ctx, m.between(50, 1000), func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.absent[name] = false
		if err := os.Rename(away, path); err != nil {
			m.report.fault(ending, "putting back a plugin: %v", err)
		}
	})
}

// clean removes everything in the temporary directory, the sockets of running plugins too. Their connections hold.
func (m *monkey) clean() {
	found, err := os.ReadDir(m.tmp)
	for _, e := range found {
		_ = os.RemoveAll(filepath.Join(m.tmp, e.Name())) // the host may be making files there meanwhile
	}
	if err != nil {
		m.report.fault(ending, "emptying the temporary directory: %v", err)
		return
	}
	m.report.struck("without their run directory")
}

// later undoes something after a time, or at once when ctx ends.
func (m *monkey) later(ctx context.Context, d time.Duration, undo func()) {
	// Waits for the time in a goroutine of its own, as several things are disturbed at once.
	m.pending.Go(func() {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
		undo()
	})
}
