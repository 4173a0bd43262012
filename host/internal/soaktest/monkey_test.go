package soaktest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// A disturbance is what befalls a plugin: its process, as the OOM killer or an overloaded machine would do it, its
// file, as an installer would, or its run directory, as a cleaner of temporary files would.
type disturbance string

const (
	killed   disturbance = "killed"
	stopped  disturbance = "stopped for a while"
	replaced disturbance = "replaced by a new version"
	removed  disturbance = "removed and put back" // what is built in takes over
	swept    disturbance = "without its run directory"
)

// monkey disturbs plugins.
type monkey struct {
	t       *testing.T
	host    *window.Host
	rnd     *rand.Rand
	tally   *tally
	runDirs string
	aside   string         // a directory for files that are not in their place
	pending sync.WaitGroup // what is to be undone

	mu   sync.Mutex // guards the files and away
	away map[string]bool
}

// disturb does something every turnsPerDisturbance turns, until ctx ends. When it returns, everything is as it was
// before. Each strategy is killed in rotation, each other thing befalls one of them and, half of the time, one is
// killed right after, which may have only just been started. That counts too: the next disturbance comes later.
func (m *monkey) disturb(ctx context.Context) {
	defer m.pending.Wait()
	type step struct {
		disturbance
		name string
	}
	var all []step
	for _, name := range strategies {
		all = append(all, step{killed, name})
	}
	for _, d := range []disturbance{stopped, replaced, removed, swept} {
		all = append(all, step{d, ""})
	}
	for {
		m.rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i := 0; i < len(all); {
			select {
			case <-ctx.Done():
				return
			// not always at the same point of a turn
			case <-time.After(m.between(1, 20)):
			}
			if !m.tally.due() {
				continue
			}
			name := cmp.Or(all[i].name, m.any())
			if m.befalls(ctx, all[i].disturbance, name) {
				m.tally.disturbed(all[i].disturbance, name)
				i++
			}
			if m.rnd.IntN(2) == 0 {
				if name := m.any(); m.befalls(ctx, killed, name) {
					m.tally.disturbed(killed, name)
				}
			}
		}
	}
}

func (m *monkey) any() string { return strategies[m.rnd.IntN(len(strategies))] }

func (m *monkey) between(least, most int) time.Duration {
	return time.Duration(least+m.rnd.IntN(most-least)) * time.Millisecond
}

// befalls returns false if the plugin does not run, or is away.
func (m *monkey) befalls(ctx context.Context, what disturbance, name string) bool {
	// Without a reset, the delay after a crash would grow to a minute, and most of the test would be waiting.
	m.host.ResetPlugin(name)
	switch what {
	case killed:
		pid, ok := children(m.t)[plugins.FilePrefix+name]
		return ok && syscall.Kill(pid, syscall.SIGKILL) == nil
	case stopped:
		pid, ok := children(m.t)[plugins.FilePrefix+name]
		if !ok || syscall.Kill(pid, syscall.SIGSTOP) != nil {
			return false
		}
		m.later(ctx, m.between(50, 500), func() {
			if children(m.t)[plugins.FilePrefix+name] == pid { // the id may be another process's by now
				_ = syscall.Kill(pid, syscall.SIGCONT)
			}
		})
		return true
	case replaced:
		return m.replace(name)
	case removed:
		return m.remove(ctx, name)
	default:
		found, _ := os.ReadDir(m.runDirs)
		for _, e := range found {
			_ = os.RemoveAll(filepath.Join(m.runDirs, e.Name())) // the host may be making files there meanwhile
		}
		return true
	}
}

func file(name string) string { return filepath.Join(pluginDir, plugins.FilePrefix+name) }

// replace puts a new version in the place of a file, in one step: bytes after the end of a program change nothing that
// it does.
func (m *monkey) replace(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	program, err := os.ReadFile(file(name))
	if err != nil {
		return false // it is away, and comes back as it was
	}
	next := filepath.Join(m.aside, "next")
	if err = os.WriteFile(next, fmt.Appendf(program, "\n%d", m.rnd.Uint64()), 0o755); err == nil {
		err = os.Rename(next, file(name))
	}
	if err != nil {
		m.t.Errorf("replacing a plugin: %v", err)
	}
	return true
}

// remove takes a file away for a while.
func (m *monkey) remove(ctx context.Context, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.away[name] {
		return false
	}
	aside := filepath.Join(m.aside, name)
	if err := os.Rename(file(name), aside); err != nil {
		m.t.Errorf("removing a plugin: %v", err)
	}
	m.away[name] = true
	m.later(ctx, m.between(50, 500), func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.away[name] = false
		if err := os.Rename(aside, file(name)); err != nil {
			m.t.Errorf("putting back a plugin: %v", err)
		}
	})
	return true
}

// later undoes something after a time, or at once when ctx ends.
func (m *monkey) later(ctx context.Context, d time.Duration, undo func()) {
	m.pending.Go(func() {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
		undo()
	})
}

// children returns this process's child processes, zombies included, by the name of their program.
func children(t *testing.T) map[string]int {
	t.Helper()
	found := map[string]int{}
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range all {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest) // state, parent, …
		if len(fields) < 2 || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		program, _, _ := strings.Cut(string(command), "\x00")
		if program == "" {
			program = fmt.Sprint("process ", pid)
		}
		found[filepath.Base(program)] = pid
	}
	return found
}

// descriptors returns the files that this process has open.
func descriptors(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("SKIPPED: descriptors can be counted on Linux only: %v", err)
	}
	var out []string
	for _, e := range entries {
		// all but the directory itself, closed by now
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			out = append(out, target)
		}
	}
	return out
}

// eventually waits until ok returns true; false if it takes longer than any machine needs.
func eventually(ctx context.Context, ok func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			return ok()
		case <-tick.C:
		}
	}
	return true
}
