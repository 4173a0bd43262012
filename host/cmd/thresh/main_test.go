package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	main "github.com/thresh-dev/thresh/host/cmd/thresh"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/procs"
	"github.com/thresh-dev/thresh/internal/testkit/releases"
)

// bin holds what the tests run, laid out as a build leaves it: thresh with plugins/ next to it; and in addition
// plugins of the tests' own, and thresh-race, which has the race detector if the tests have it, as in 'make race'.
var bin string

func TestMain(m *testing.M) {
	window.ReexecMain() // some tests have a host in this process
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "thresh-e2e")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		if err := buildAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		bin = dir
		// Tests wait for other processes most of the time.
		if flag.Parse(); flag.Lookup("test.parallel").Value.String() == fmt.Sprint(runtime.GOMAXPROCS(0)) {
			_ = flag.Set("test.parallel", fmt.Sprint(3*runtime.GOMAXPROCS(0)))
		}
		return m.Run()
	}())
}

// shipped are strategies of which there are files, too.
var shipped = []string{"high-density", "top-down-truncation"}

func buildAll(dir string) error {
	packages := map[string]string{
		"thresh": "host/cmd/thresh", "gate": "host/cmd/thresh/testdata/gate",
		"nolandlock": "host/cmd/thresh/testdata/nolandlock", "faulty": "host/internal/plugins/testdata/faulty",
	}
	for _, name := range shipped {
		packages["plugins/thresh-strategy-"+name] = "plugins/cmd/thresh-strategy-" + name
	}
	if err := binaries.Install(dir, packages); err != nil {
		return err
	}
	watched, err := binaries.Watched("host/cmd/thresh")
	if watched == "" && err == nil {
		return os.Link(filepath.Join(dir, "thresh"), filepath.Join(dir, "thresh-race"))
	}
	return errors.Join(err, binaries.Copy(watched, filepath.Join(dir, "thresh-race")))
}

// place is a machine of a test's own: home, temporary directory, plugin directory, working directory.
type place struct {
	t       testing.TB
	dir     string // short: sockets are made below it
	plugins string
	program string
	// isolation is the setting; "" is the default. The gate reads a pipe in the workspace, and so cannot be isolated.
	isolation string
	// here has run commands run in this process.
	here bool
	env  []string // further variables
	code int      // the last command's exit status, for scripts
	// model is that of a script, which has seen so many of its requests.
	model *llmPlace
	seen  int
	// publisher is that of a script's releases.
	publisher releases.Publisher
}

// newPlace makes a place with the given plugins in addition to those that are built in: gate, or a fault of the faulty
// plugin. When the test is over, nothing may be left running there, and no run directory.
func newPlace(t testing.TB, plugins ...string) *place {
	t.Helper()
	dir, err := os.MkdirTemp("", "t")
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: dir, plugins: filepath.Join(dir, "p"), program: "thresh"}
	for _, sub := range []string{"p", "tmp", "home", "work"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range plugins {
		p.add(name)
	}
	t.Cleanup(func() {
		p.alone()
		if left, err := os.ReadDir(p.path("tmp")); err != nil || len(left) > 0 {
			t.Errorf("left in the temporary directory: %v, %v", left, err)
		}
		_ = os.RemoveAll(dir)
	})
	return p
}

// newPlaceHere is newPlace with commands that run in this process: most of what a command takes is the start of its
// process.
func newPlaceHere(t testing.TB, plugins ...string) *place {
	t.Helper()
	p := newPlace(t, plugins...)
	p.here = true
	return p
}

// add makes a plugin of a name: a strategy that ships, the gate, or a fault of the faulty plugin.
func (p *place) add(name string) {
	p.t.Helper()
	switch {
	case slices.Contains(shipped, name):
		p.install(name)
	case name == "gate":
		p.link(name, name)
		p.isolation = "off"
	default:
		p.link("faulty", name)
	}
}

func (p *place) link(binary, name string) {
	p.t.Helper()
	if err := os.Link(filepath.Join(bin, binary), filepath.Join(p.plugins, "thresh-strategy-"+name)); err != nil {
		p.t.Fatal(err)
	}
}

// pluginFile is the path of a plugin of the place.
func (p *place) pluginFile(name string) string {
	return filepath.Join(p.plugins, "thresh-strategy-"+name)
}

// install makes a file of a strategy, which is used instead of the one that is built in.
func (p *place) install(strategy string) { p.link("plugins/thresh-strategy-"+strategy, strategy) }

func (p *place) path(elem ...string) string {
	return filepath.Join(append([]string{p.dir}, elem...)...)
}

// file writes a file to the working directory and returns its name.
func (p *place) file(name, text string) string {
	p.t.Helper()
	if err := os.WriteFile(p.path("work", name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return name
}

// command is thresh with an environment of the place alone, in a process group of its own.
func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, p.program), args...)
	cmd.Dir = p.path("work")
	cmd.Env = []string{
		"HOME=" + p.path("home"), "XDG_CONFIG_HOME=" + p.path("home", "config"), "XDG_DATA_HOME=" +
			p.path("home", "data"),
		"TMPDIR=" + p.path("tmp"), "PATH=/usr/bin:/bin", "THRESH_PLUGINS_DIRS=" + p.plugins, "GORACE=halt_on_error=1 atexit_sleep_ms=50",
		"THRESH_PLUGINS_ISOLATION=" + p.isolation,
		// This vocabulary loads in half the time of the default one. There are hundreds of processes here, and beside them
		// one may start slowly.
		"THRESH_MODEL_ENCODING=cl100k_base", "THRESH_PLUGINS_START_TIMEOUT=1m",
	}
	cmd.Env = append(cmd.Env, p.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// limited puts a command under a limit, which ulimit sets.
func limited(limit string, cmd *exec.Cmd) *exec.Cmd {
	cmd.Args = append([]string{"sh", "-c", "ulimit " + limit + ` && exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	return cmd
}

type result struct {
	stdout, stderr string
	code           int
}

// run runs thresh to its end.
func (p *place) run(args ...string) result {
	p.t.Helper()
	return p.finish(p.command(args...))
}

// beside runs thresh to a good end while others of the place go on, and returns all that it prints.
func (p *place) beside(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.t.Errorf("%v: %v: %s", args, err, out)
	}
	return string(out)
}

// execute runs a command in this process, with the streams, directory and environment of cmd.
func (p *place) execute(cmd *exec.Cmd) result {
	p.t.Helper()
	if cmd.Stdin == nil {
		cmd.Stdin = strings.NewReader("")
	}
	var stdout, stderr bytes.Buffer
	code := main.Execute(p.t.Context(), cmd.Dir, cmd.Env, cmd.Args[1:], cmd.Stdin, &stdout, &stderr)
	p.alone()
	return result{stdout.String(), stderr.String(), code}
}

// patience is how long a test waits for what takes a moment on an idle machine: only one that fails waits for so long.
const patience = 3 * time.Minute

func (p *place) finish(cmd *exec.Cmd) result {
	p.t.Helper()
	if p.here {
		return p.execute(cmd)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	stop := time.AfterFunc(patience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGQUIT) })
	err := cmd.Wait()
	stop.Stop()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	r := result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	p.calm(r.stderr)
	p.alone()
	return r
}

// calm fails the test if the host panicked or raced.
func (p *place) calm(stderr string) {
	p.t.Helper()
	for _, sign := range []string{"\npanic: ", "\ngoroutine ", "DATA RACE", "SIGQUIT"} {
		if strings.Contains("\n"+stderr, sign) {
			p.t.Errorf("on standard error:\n%s", stderr)
			return
		}
	}
}

// alone fails the test if a process of the place is there and does not go at once.
func (p *place) alone() {
	p.t.Helper()
	if !eventually(time.Second, func() bool { return len(p.processes()) == 0 }) {
		p.t.Errorf("left running: %v", p.processes())
	}
}

// processes are the environments of plugins of the place that run.
func (p *place) processes() []string {
	return slices.Collect(maps.Values(procs.With("TMPDIR=" + p.path("tmp") + "/")))
}

// pids are the ids of the plugins of the place that run.
func (p *place) pids() []int {
	return slices.Collect(maps.Keys(procs.With("TMPDIR=" + p.path("tmp") + "/")))
}

// eventually reports whether something comes true in time.
func eventually(limit time.Duration, is func() bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			return is()
		case <-tick.C:
		}
	}
	return true
}

// done fails the test unless thresh ended well.
func (r result) done(t testing.TB) result {
	t.Helper()
	if r.code != 0 {
		t.Fatalf("exit status %d:\n%s", r.code, r.stderr)
	}
	return r
}

// failed fails the test unless thresh ended with the status, printed nothing, and said all of what is wanted in a few
// lines.
func (r result) failed(t *testing.T, code int, want ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit status %d, want %d", r.code, code)
	}
	if r.stdout != "" {
		t.Errorf("on standard output: %.300s", r.stdout)
	}
	if n := strings.Count(r.stderr, "\n"); n < 1 || n > 4 {
		t.Errorf("%d lines on standard error", n)
	}
	if i := slices.IndexFunc(want, func(w string) bool { return !strings.Contains(r.stderr, w) }); i >= 0 {
		t.Errorf("no %q on standard error", want[i])
	}
	if t.Failed() {
		t.Logf("standard error:\n%.2000s", r.stderr)
	}
}

// decode reads one JSON value that is all there is on standard output.
func decode[T any](t *testing.T, r result) T {
	t.Helper()
	var v T
	r.done(t)
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatalf("not one JSON value: %v\n%.500s", err, r.stdout)
	}
	return v
}
