package plugins

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/prepare"
)

// moreThanAllowed is how often a test lets a start fail: often enough for quarantine, if the failures counted.
const moreThanAllowed = 6

// blamesTheHost makes calls that fail because the host's machine lacks something. The plugin may not be blamed.
func blamesTheHost(t *testing.T, s *Strategy, says ...string) {
	t.Helper()
	for range moreThanAllowed {
		_, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")})
		var failure *Error
		if !errors.Is(err, ErrHost) || !errors.As(err, &failure) || !failure.Retryable || failure.Plugin != s.Name() {
			t.Fatalf("got %v", err)
		}
		for _, words := range says {
			if !strings.Contains(err.Error(), words) {
				t.Fatalf("%v\ndoes not say %q", err, words)
			}
		}
	}
	if state, reason := s.State(); state != StateHostFault || !strings.Contains(reason, "host environment fault") {
		t.Errorf("%s: %s", state, reason)
	}
}

func works(t *testing.T, s *Strategy) {
	t.Helper()
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")}); err != nil {
		t.Errorf("when the cause is gone: %v", err)
	}
	if state, _ := s.State(); state != StateReady {
		t.Errorf("when the cause is gone it is %s", state)
	}
}

func TestARunDirectoryThatIsGoneIsMadeAgain(t *testing.T) {
	t.Parallel()
	base := plugintest.ShortTemp(t)
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}, RunDir: base}),
		"steady")
	for range moreThanAllowed {
		empty(t, base)
		works(t, s) // the process that runs does not need it
	}
	empty(t, base)
	kill(t, s)
	works(t, s)
}

// empty removes everything in a directory, as programs do that clean up temporary files.
func empty(t *testing.T, dir string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	for _, e := range found {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A process that is not connected to the host's services when its directory goes can never be: it is replaced.
func TestAPluginThatCannotReachTheHostIsReplaced(t *testing.T) {
	t.Parallel()
	base := plugintest.ShortTemp(t)
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "connects-late")}}, RunDir: base}),
		"connects-late")
	first := pid(t, s)
	empty(t, base)
	_, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a", "b")}, services{})
	var failure *Error
	if !errors.Is(err, ErrHost) || !errors.As(err, &failure) || !failure.Retryable {
		t.Fatalf("got %v", err)
	}
	if _, err = s.Compress(t.Context(), prepare.CompressCall{Call: call("a", "b")}, services{}); err != nil {
		t.Errorf("the next call: %v", err)
	}
	if pid(t, s) == first {
		t.Error("it was not replaced")
	}
}

func TestATemporaryDirectoryThatIsGoneIsTheHostsFault(t *testing.T) {
	t.Parallel()
	base := plugintest.ShortTemp(t)
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}, RunDir: base})
	s := strategy(t, m, "steady")
	if err := os.RemoveAll(base); err != nil {
		t.Fatal(err)
	}
	kill(t, s)
	blamesTheHost(t, s, base, "no such file or directory", "the next call tries again")
	if l := m.List(t.Context())[0]; l.State != StateHostFault || l.Version != "1.2.3" {
		t.Errorf("listed as %+v", l)
	}
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	works(t, s)
}

// fewFilesEnv makes a test run the part that needs a process of its own, because limits are the whole process's.
const fewFilesEnv = "THRESH_TEST_FEW_FILES"

func TestWithoutDescriptorsNoPluginIsToBlame(t *testing.T) {
	if os.Getenv(fewFilesEnv) != "" {
		withoutDescriptors(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), fewFilesEnv+"=1", builtEnv+"="+filepath.Dir(faulty))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func withoutDescriptors(t *testing.T) {
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}})
	s := m.handle("steady")
	for _, free := range []int{0, 1, 4, 12} { // what fails is the scan, then one step of the start after the other
		release := useUpDescriptors(t, free)
		blamesTheHost(t, s, "too many open files", "ulimit -n")
		if err := m.Check("another"); free == 0 && !errors.Is(err, ErrHost) {
			t.Errorf("a strategy that may exist: %v", err)
		}
		release()
	}
	works(t, s)
	before := pid(t, s)
	release := useUpDescriptors(t, 0)
	m.rescan() // sees nothing, but does not take the plugin for removed
	release()
	if after := pid(t, s); after != before {
		t.Errorf("process %d became %d", before, after)
	}
}

// useUpDescriptors opens files until no more than free ones can be opened.
func useUpDescriptors(t *testing.T, free int) (release func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	few := before
	few.Cur = 100
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	var files []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		files = append(files, f)
	}
	for range free {
		_ = files[len(files)-1].Close()
		files = files[:len(files)-1]
	}
	return func() {
		for _, f := range files {
			_ = f.Close()
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Fatal(err)
		}
	}
}
