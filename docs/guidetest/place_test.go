package guidetest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// timeout bounds one command of thresh, which takes a moment on an idle machine.
const timeout = 10 * time.Minute

// object is any JSON object.
type object = map[string]any

// place is a machine of a test's own: home, temporary directory, plugin directory, working directory.
type place struct {
	t       *testing.T
	dir     string // short: sockets are made below it
	plugins string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir, err := os.MkdirTemp("", "g")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &place{t: t, dir: dir, plugins: filepath.Join(dir, "p")}
	for _, sub := range []string{"p", "tmp", "home", "work"} {
		if err := os.Mkdir(p.path(sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) path(elem ...string) string {
	return filepath.Join(append([]string{p.dir}, elem...)...)
}

// install puts a plugin where people put it, by renaming it into place.
func (p *place) install(binary string) {
	p.t.Helper()
	text, err := os.ReadFile(binary)
	if err == nil {
		err = os.WriteFile(p.path("work", "new"), text, 0o755)
	}
	if err == nil {
		err = os.Rename(p.path("work", "new"), filepath.Join(p.plugins, filepath.Base(binary)))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// command is thresh with an environment of the place alone, in a process group of its own.
func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, "thresh"), args...)
	cmd.Dir = p.path("work")
	cmd.Env = []string{
		"HOME=" + p.path("home"), "TMPDIR=" + p.path("tmp"), "PATH=/usr/bin:/bin", "THRESH_PLUGINS_DIRS=" + p.plugins,
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// run runs thresh to its end.
func (p *place) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := p.command(args...)
	var out, log strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(timeout, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGQUIT) })
	defer stop.Stop()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for _, sign := range []string{"\npanic: ", "\ngoroutine ", "SIGQUIT"} {
		if strings.Contains("\n"+log.String(), sign) {
			t.Errorf("on standard error:\n%s", log.String())
		}
	}
	return out.String(), log.String(), cmd.ProcessState.ExitCode()
}

// decode runs thresh and reads the JSON value that it prints.
func decode[T any](t *testing.T, p *place, args ...string) T {
	t.Helper()
	stdout, stderr, code := p.run(t, args...)
	var v T
	if code != 0 {
		t.Fatalf("exit status %d:\n%s", code, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &v); err != nil {
		t.Fatalf("not one JSON value: %v\n%.500s", err, stdout)
	}
	return v
}

// agent talks to 'thresh run', one request at a time.
type agent struct {
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func (p *place) serve(t *testing.T, args ...string) *agent {
	t.Helper()
	cmd := p.command(append([]string{"run"}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(timeout, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { stop.Stop(); _ = cmd.Process.Kill() })
	return &agent{cmd: cmd, in: in, out: bufio.NewScanner(out)}
}

// call fails the test if the method fails.
func (a *agent) call(t *testing.T, method string, params object) {
	t.Helper()
	request := object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
	if err := json.NewEncoder(a.in).Encode(request); err != nil {
		t.Fatal(err)
	}
	var reply struct{ Error any }
	if !a.out.Scan() {
		t.Fatalf("%s: thresh has ended: %v", method, a.out.Err())
	}
	if err := json.Unmarshal(a.out.Bytes(), &reply); err != nil || reply.Error != nil {
		t.Fatalf("%s: %v, %.1000s", method, err, a.out.Text())
	}
}

// pluginProcesses are the command lines of processes whose private directory is one that a host of the place made. A
// script's process has the name of its interpreter, so that it cannot be known by its name.
func (p *place) pluginProcesses() []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range all {
		env, err := os.ReadFile(file)
		if err != nil || !strings.Contains("\x00"+string(env), "\x00TMPDIR="+p.path("tmp")+"/") {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline")) // empty: it is ending
		found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
	}
	return found
}

// noneLeft fails the test if plugins of the place are running and do not end soon.
func (p *place) noneLeft(t *testing.T) {
	t.Helper()
	for range 200 {
		if len(p.pluginProcesses()) == 0 {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Errorf("left running: %q", p.pluginProcesses())
}
