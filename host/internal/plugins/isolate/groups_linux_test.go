package isolate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// group makes a control group, with the controllers that a test needs.
func group(t *testing.T, needed ...string) *Group {
	t.Helper()
	groups, err := OpenGroups()
	if err != nil {
		t.Skip("SKIPPED: no control groups:", err)
	}
	for _, c := range needed {
		if !groups.bounds(c) {
			t.Skipf("SKIPPED: control groups in %s have no %s controller", groups.dir, c)
		}
	}
	g, err := groups.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Remove() })
	return g
}

// sh runs a script in a group, and returns how it ended.
func (g *Group) sh(script string) error {
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(g.dir.Fd())}
	return cmd.Run()
}

// Neither a session nor a parent of its own takes a process out of the group.
func TestWhatIsInAGroupEndsWithIt(t *testing.T) {
	g := group(t)
	seconds := fmt.Sprintf("86401.%d", os.Getpid())
	script := "sleep S >/dev/null 2>&1 & setsid sh -c 'sleep S >/dev/null 2>&1 &' & exit 0"
	if err := g.sh(strings.ReplaceAll(script, "S", seconds)); err != nil {
		t.Fatal(err)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(g.dir.Name()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the group is left behind: %v", err)
	}
	if left := sleeping(seconds); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// sleeping returns the processes that sleep for so many seconds.
func sleeping(seconds string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.DeleteFunc(files, func(file string) bool {
		text, _ := os.ReadFile(file)
		return !strings.HasSuffix(string(text), "sleep\x00"+seconds+"\x00")
	})
}

// No limit of a process counts shared memory.
func TestAGroupBoundsSharedMemory(t *testing.T) {
	g := group(t, memoryController)
	if err := g.limit(64 << 20); err != nil {
		t.Fatal(err)
	}
	shared := fmt.Sprintf("/dev/shm/thresh-test-%d", os.Getpid())
	defer os.Remove(shared)
	err := g.sh("head -c 64000000 /dev/zero >" + shared)
	if err != nil || g.OutOfMemory() {
		t.Errorf("what it may have: %v", err)
	}
	var exit *exec.ExitError
	if err = g.sh("head -c 600000000 /dev/zero >" + shared); !errors.As(err, &exit) || !g.OutOfMemory() {
		t.Errorf("what it may not have: %v", err)
	}
}

func TestAGroupBoundsTasks(t *testing.T) {
	g := group(t, tasksController)
	if err := g.limit(0); err != nil {
		t.Fatal(err)
	}
	_ = g.sh("i=0; while [ $i -lt 600 ]; do sleep 86400 >/dev/null 2>&1 & i=$((i+1)); done")
	if n := len(words(filepath.Join(g.dir.Name(), "cgroup.procs"))); n < MaxThreads/2 || n > MaxThreads {
		t.Errorf("%d processes, want %d at most, and not many less", n, MaxThreads)
	}
}
