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
	"time"

	"golang.org/x/sys/unix"
)

// nobody is the number of a user without rights.
const nobody = 65534

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
	t.Cleanup(func() {
		if err := g.Remove(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error("a group is left behind:", err)
		}
	})
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

// Two plugins have the same share of the processors, whatever they start, and half that of a group that has not been
// limited.
func TestAGroupHasAShareOfTheProcessors(t *testing.T) {
	for range 2 {
		g := group(t, cpuController)
		weight := filepath.Join(g.dir.Name(), "cpu.weight")
		if got := words(weight); !slices.Equal(got, []string{"100"}) {
			t.Errorf("before: %v", got)
		}
		if err := g.limit(0); err != nil {
			t.Fatal(err)
		}
		if got := words(weight); !slices.Equal(got, []string{"50"}) {
			t.Errorf("its weight is %v", got)
		}
	}
}

// What could not be removed when its program ended goes with the next start of a host.
func TestAGroupThatIsLeftBehindIsSweptUp(t *testing.T) {
	left, fresh := group(t), group(t)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(left.dir.Name(), old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenGroups(); err != nil {
		t.Fatal(err)
	}
	if !isRemoved(left.dir.Name()) || isRemoved(fresh.dir.Name()) {
		t.Error("the old group is still there, or the new one is gone")
	}
}

// A service manager leaves a group to a service by giving it to the service's user and marking it. The service's main
// process is in that group, or in one below it, and divides it.
func TestADelegatedGroupIsDivided(t *testing.T) {
	groups, err := OpenGroups()
	if err != nil || os.Geteuid() != 0 {
		t.Skip("SKIPPED: this process can play no service manager:", err)
	}
	dir, err := os.MkdirTemp("", "isolate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	test := filepath.Join(dir, "test")
	if err := errors.Join(os.WriteFile(test, text, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, below := range []string{"", "main"} {
		t.Run("below="+below, func(t *testing.T) {
			left, err := groups.New()
			if err != nil {
				t.Fatal(err)
			}
			name := left.dir.Name()
			t.Cleanup(func() {
				for _, g := range []string{hostGroup, "main"} {
					_ = unix.Rmdir(filepath.Join(name, g))
				}
				if err := left.Remove(); err != nil {
					t.Error(err)
				}
			})
			in := filepath.Join(name, below)
			if err := os.MkdirAll(in, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := unix.Setxattr(name, "user.delegate", []byte("1"), 0); err != nil {
				t.Fatal(err)
			}
			for _, d := range []string{name, in} {
				for _, file := range []string{"", "cgroup.procs", "cgroup.subtree_control"} {
					if err := os.Chown(filepath.Join(d, file), nobody, nobody); err != nil {
						t.Fatal(err)
					}
				}
			}
			into, err := os.Open(in)
			if err != nil {
				t.Fatal(err)
			}
			defer into.Close()
			cmd := exec.Command(test, "-test.v", "-test.run", "TestWhatIsInAGroup|TestAGroupBounds|TestAGroupHas")
			cmd.Env = []string{"PATH=/usr/bin:/bin", hostileEnv + "=" + hostile}
			cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(into.Fd()),
				Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			out, err := cmd.CombinedOutput()
			want := 1 + len(groups.controllers) // one of them for each
			if passed := strings.Count(string(out), "--- PASS"); err != nil || passed != want {
				t.Errorf("%d tests passed, want %d: %v\n%s", passed, want, err, out)
			}
		})
	}
}
