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

// killer kills plugins, as somebody would who has nothing to do with the host.
type killer struct {
	host  *engine.Host
	rnd   *rand.Rand
	kills map[string]int // by strategy
}

func newKiller(h *engine.Host, seed uint64) *killer {
	return &killer{host: h, rnd: rand.New(rand.NewPCG(seed, 1)), kills: map[string]int{}}
}

// kill kills a plugin or two about every three quarters of a second, until ctx ends: each in its turn, and now and
// then one more, which may be the one that has only just been started.
func (k *killer) kill(ctx context.Context, t *testing.T) {
	turn := k.rnd.Perm(len(strategies))
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(500*time.Millisecond + time.Duration(k.rnd.Int64N(int64(500*time.Millisecond)))):
		}
		running := children(t)
		if k.strike(running, names()[turn[0]]) {
			turn = append(turn[1:], turn[0])
		}
		if k.rnd.IntN(2) == 0 {
			k.strike(running, names()[k.rnd.IntN(len(strategies))])
		}
	}
}

// strike kills a plugin, if it is running.
func (k *killer) strike(running map[string]int, name string) bool {
	pid, ok := running[plugins.FilePrefix+name]
	if !ok {
		return false
	}
	// Without it, the delay after a crash grows to a minute, and the rest of the test would be spent waiting.
	k.host.ResetPlugin(name)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	k.kills[name]++
	return true
}

// children are the processes that this one has started and that are there, zombies included, by the name of their file.
func children(t *testing.T) map[string]int {
	t.Helper()
	found := map[string]int{}
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range all {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
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

// descriptors are the files that this process has open.
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

// eventually waits until ok, for a few seconds.
func eventually(ctx context.Context, ok func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
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
