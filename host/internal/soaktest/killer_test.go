package soaktest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/engine"
	"github.com/thresh-dev/thresh/host/internal/plugins"
)

// killer kills plugins from outside, as the OOM killer would.
type killer struct {
	host  *engine.Host
	rnd   *rand.Rand
	tally *tally
}

func newKiller(h *engine.Host, seed uint64, y *tally) *killer {
	return &killer{host: h, rnd: rand.New(rand.NewPCG(seed, 1)), tally: y}
}

// kill kills a plugin every turnsPerKill turns, until ctx ends: each strategy in rotation and, half of the time, a
// random one right after it, which may have only just been started. That one counts too: the next kill comes later.
func (k *killer) kill(ctx context.Context, t *testing.T) {
	rotation := k.rnd.Perm(len(strategies))
	for {
		select {
		case <-ctx.Done():
			return
		// not always at the same point of a turn
		case <-time.After(time.Millisecond * time.Duration(1+k.rnd.Int64N(20))):
		}
		if !k.tally.killDue() {
			continue
		}
		running := children(t)
		if k.strike(running, strategies[rotation[0]]) {
			rotation = append(rotation[1:], rotation[0])
		}
		if k.rnd.IntN(2) == 0 {
			k.strike(running, strategies[k.rnd.IntN(len(strategies))])
		}
	}
}

// strike kills a plugin with SIGKILL, if it is running.
func (k *killer) strike(running map[string]int, name string) bool {
	pid, ok := running[plugins.FilePrefix+name]
	if !ok {
		return false
	}
	// Without a reset, the delay after a crash would grow to a minute, and most of the test would be waiting.
	k.host.ResetPlugin(name)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	k.tally.killed(name)
	return true
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
