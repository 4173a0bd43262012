//go:build unix

package plugintest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/thresh-dev/thresh/host/early"
)

// Install copies a binary into place as an installer should: under another name, then renamed. A running program cannot
// be written to (ETXTBSY), and a watching host must never see half a file.
func Install(t testing.TB, binary, path string) {
	t.Helper()
	InstallVariant(t, binary, path, "")
}

// Link is Install for a file that the test does not change: a plugin has 13 MB.
func Link(t testing.TB, binary, path string) {
	t.Helper()
	if os.Link(binary, path) != nil { // it may be another user's
		Install(t, binary, path)
	}
}

// Write returns the path of a new file. The mode is subject to the umask, as it is for users.
func Write(t testing.TB, dir, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// ShortTemp is a directory for run directories: the path of a Unix socket has at most 108 bytes (104 on macOS), and
// t.TempDir's is too long.
func ShortTemp(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "t")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Exists reports whether a process exists; a zombie, which kill still finds, counts as gone.
func Exists(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	// The name before it is in parentheses and may hold anything but this.
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// Processes returns the ids of those that run a plugin of the directory. A plugin's first argument is its path, even if
// it was started from a descriptor.
func Processes(t testing.TB, dir string) (pids []int) {
	t.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		if text, err := os.ReadFile(file); err == nil && strings.HasPrefix(string(text), dir+"/") {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// GoneWithin waits for a process to end, where the runtime promises a time; other tests use [Eventually].
func GoneWithin(t testing.TB, pid int, limit time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for Exists(pid) {
		select {
		case <-ctx.Done():
			t.Fatalf("process %d is still there after %v", pid, limit)
		case <-tick.C:
		}
	}
}

// timeout is far above what anything takes, so a busy machine fails no test.
const timeout = time.Minute

func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("not within %v: %s", timeout, what)
		case <-tick.C:
		}
	}
}

// Variant replaces a plugin's file by another one that does the same: bytes after the end of a program change nothing.
func Variant(t testing.TB, path string) {
	t.Helper()
	InstallVariant(t, path, path, "another version")
}

// InstallVariant is Install for a binary that differs by what follows its end.
func InstallVariant(t testing.TB, binary, path, more string) {
	t.Helper()
	text, err := os.ReadFile(binary)
	if err == nil {
		err = os.WriteFile(path+".new", append(text, more...), 0o755)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Buffer is a bytes.Buffer that is safe for concurrent use: tests read while the host's goroutines still log.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// AsNobody runs one test of the running test binary without root's rights, in another process, and returns its output.
// files are copied, by path and name, to the process's working directory; env is added to its environment, with %DIR%
// replaced by that directory. Rights decide which measures of isolation a machine offers, and tests in containers
// usually run as root. The user (65534) need not exist in /etc/passwd.
func AsNobody(t testing.TB, test string, files map[string]string, env ...string) string {
	t.Helper()
	dir := ShortTemp(t)
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	Install(t, os.Args[0], filepath.Join(dir, "test"))
	for from, to := range files {
		Install(t, from, filepath.Join(dir, to))
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "test"), "-test.run", "^"+test+"$", "-test.v")
	cmd.Dir = dir
	// Nothing of root's environment: HOME would name a directory that this user cannot read.
	cmd.Env = []string{"TMPDIR=" + dir, "PATH=/usr/bin:/bin"}
	for _, v := range env {
		cmd.Env = append(cmd.Env, strings.ReplaceAll(v, "%DIR%", dir))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	return string(text)
}
