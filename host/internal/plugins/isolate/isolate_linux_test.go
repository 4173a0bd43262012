package isolate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// inside is the program that tries to get out, hostile one that tries to harm what is outside. They are built without
// cgo and the race detector, which need more than is left to them.
var inside, hostile string

// These make the test binary another program: hostileEnv says that hostile is built already, and where; doomedEnv
// makes it a host that is about to be killed; closingEnv makes it close what it inherited.
const hostileEnv, doomedEnv, closingEnv = "THRESH_TEST_HOSTILE", "THRESH_TEST_DOOMED", "THRESH_TEST_CLOSING"

func TestMain(m *testing.M) {
	Main() // this program is its own launcher and watcher, as a host is
	if hostile = os.Getenv(hostileEnv); hostile != "" {
		inside = filepath.Join(filepath.Dir(hostile), "inside")
		if dir := os.Getenv(doomedEnv); dir != "" {
			doomed(dir)
			return
		}
		if os.Getenv(closingEnv) != "" {
			closing()
			return
		}
		os.Exit(m.Run())
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "isolate")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		inside, hostile = filepath.Join(dir, "inside"), filepath.Join(dir, "hostile")
		build := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir, "./testdata/inside", "./testdata/hostile")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building testdata: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// everything are the measures that this machine can take; a test that needs one that it cannot is skipped.
func everything(t *testing.T, needed ...Measure) []Measure {
	t.Helper()
	var all []Measure
	for _, c := range Probe() {
		if c.Works {
			all = append(all, c.Measure)
		} else if slices.Contains(needed, c.Measure) {
			t.Skipf("SKIPPED: this machine does not isolate %s: %s", c.Measure, c.How)
		}
	}
	return all
}

// refused is how an attempt ended that had no effect. Which error it was depends on the measure that came first.
const refused = "refused"

// try starts the program as spec says, and returns how its attempts ended.
func try(t *testing.T, spec Spec, attempts ...string) map[string]string {
	t.Helper()
	text, err := run(t, spec, inside, attempts...)
	if err != nil {
		t.Fatal(err)
	}
	var ended map[string]string
	if err := json.Unmarshal(text, &ended); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	for name, how := range ended {
		if how == "permission denied" || how == "no such file or directory" || how == "read-only file system" ||
			how == "operation not permitted" {
			ended[name] = refused
		}
	}
	return ended
}

// run starts a program by way of a launcher and returns what it printed.
func run(t *testing.T, spec Spec, program string, args ...string) ([]byte, error) {
	t.Helper()
	binary, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	if spec.RunDir == "" {
		spec.RunDir = t.TempDir()
	}
	spec.Args = append([]string{program}, args...)
	out, stderr := temporary(t), temporary(t)
	cmd, file, err := started(spec, Handles{Stdout: out, Stderr: stderr, Lifeline: out, Binary: binary})
	if err != nil {
		return nil, err
	}
	if file != nil {
		guard := NewGuard(file, spec.RunDir, func(why string) { t.Error(why) })
		defer guard.Close()
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, written(t, stderr))
	}
	return written(t, out), nil
}

// started starts a launcher, and has it become a program. A guard, which may be nil, is for [NewGuard].
func started(spec Spec, handles Handles) (cmd *exec.Cmd, guard *os.File, err error) {
	return startedIn(nil, spec, handles)
}

// startedIn is started in a control group.
func startedIn(group *Group, spec Spec, handles Handles) (cmd *exec.Cmd, guard *os.File, err error) {
	l, err := NewLauncher(spec, group)
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	l.Attr.Setpgid = true
	cmd = &exec.Cmd{Path: l.Path, Args: l.Args, SysProcAttr: l.Attr, Env: []string{}, ExtraFiles: l.Inherit}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	if guard, err = l.Become(spec, handles, 10*time.Second); err != nil {
		l.Close()
		_ = cmd.Wait()
	}
	return cmd, guard, err
}

// temporary makes a file for what a program prints.
func temporary(t *testing.T) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// written returns all that is in a file.
func written(t *testing.T, f *os.File) []byte {
	t.Helper()
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// listen returns addresses at which the test listens: TCP and a socket in the file system.
func listen(t *testing.T) (tcp, unix string) {
	t.Helper()
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "s")} {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		if network == "tcp" {
			tcp = l.Addr().String()
		} else {
			unix = l.Addr().String()
		}
	}
	return tcp, unix
}

// secrets makes a directory with a file in it.
func secrets(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

func TestFiles(t *testing.T) {
	all := everything(t, Files)
	dir, file := secrets(t)
	grantedDir, granted := secrets(t)
	runDir := t.TempDir()
	attempts := []string{
		"read:" + file, "list:" + dir, "write:" + filepath.Join(dir, "new"),
		"read-granted:" + granted, "write-granted:" + granted,
		"write-run-dir:" + filepath.Join(runDir, "new"), "read-system:" + systemFile(t), "read-self:/proc/self/status",
	}
	const no, yes = refused, "done"
	for name, test := range map[string]struct {
		spec Spec
		want map[string]string
	}{
		"nothing but its own and the system's": {Spec{}, map[string]string{
			"read": no, "list": no, "write": no, "read-granted": no, "write-granted": no, "write-run-dir": yes, "read-system": yes, "read-self": yes}},
		"what is granted, to be read": {Spec{Read: []string{grantedDir}}, map[string]string{
			"read": no, "list": no, "write": no, "read-granted": yes, "write-granted": no, "write-run-dir": yes, "read-system": yes, "read-self": yes}},
		"one file": {Spec{Read: []string{granted}}, map[string]string{
			"read": no, "list": no, "write": no, "read-granted": yes, "write-granted": no, "write-run-dir": yes, "read-system": yes, "read-self": yes}},
	} {
		t.Run(name, func(t *testing.T) {
			test.spec.RunDir, test.spec.Apply = runDir, all
			if diff := cmp.Diff(test.want, try(t, test.spec, attempts...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// systemFile is a file that any program may read.
func systemFile(t *testing.T) string {
	t.Helper()
	for _, path := range []string{"/usr/lib/os-release", "/usr/bin/env", "/bin/sh"} {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
	}
	t.Skip("SKIPPED: no system file is known here")
	return ""
}

func TestNetwork(t *testing.T) {
	all := everything(t, Network, Sockets)
	tcp, socket := listen(t)
	attempts := []string{"tcp:" + tcp, "udp:" + tcp, "unix:" + socket}
	if diff := cmp.Diff(map[string]string{"tcp": refused, "udp": refused, "unix": refused}, try(t, Spec{Apply: all}, attempts...)); diff != "" {
		t.Error(diff)
	}
	t.Run("granted", func(t *testing.T) {
		everything(t, Paths) // a host that makes the program's sockets makes none of the network
		if diff := cmp.Diff(map[string]string{"tcp": "done", "udp": "done", "unix": refused}, try(t, Spec{Apply: all, Network: true}, attempts...)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestProcesses(t *testing.T) {
	all := everything(t, Processes)
	attempts := []string{"thread", "start:/bin/true", "fork", "clone3", "namespace"}
	const no, none = refused, "function not implemented"
	if diff := cmp.Diff(map[string]string{"thread": "done", "start": no, "fork": no, "clone3": none, "namespace": no},
		try(t, Spec{Apply: all}, attempts...)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"thread": "done", "start": "done", "fork": "done", "clone3": none, "namespace": no},
		try(t, Spec{Apply: all, Processes: true}, attempts...)); diff != "" {
		t.Error("granted:", diff)
	}
}

// Calls that lead around the rest are closed whatever is granted.
func TestCallsThatAreForbiddenToAll(t *testing.T) {
	all := everything(t, Network, Processes)
	attempts := []string{"ptrace", "fsopen", "fsmount", "move-mount", "open-tree", "mount-setattr"}
	want := map[string]string{}
	for _, call := range attempts {
		want[call] = "function not implemented"
	}
	if diff := cmp.Diff(want, try(t, Spec{Apply: all, Network: true, Processes: true}, attempts...)); diff != "" {
		t.Error(diff)
	}
}

// An interpreter named by way of env, as in #!/usr/bin/env node, is two programs one after the other in the same
// process.
func TestAProgramMayBecomeAnother(t *testing.T) {
	env, err := exec.LookPath("env")
	if err != nil {
		t.Skip("SKIPPED:", err)
	}
	text, err := run(t, Spec{Apply: everything(t, Processes)}, env, "PATH=/usr/bin:/bin", "env", "echo", "became it")
	if string(text) != "became it\n" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// Before Linux 6.12, a grant for the network opens abstract sockets too, and package process lists that.
func TestSignals(t *testing.T) {
	all := everything(t, Signals, Paths, Ending)
	name := fmt.Sprintf("@thresh-test-%d", os.Getpid())
	l, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for grants, test := range map[string]struct {
		spec     Spec
		abstract bool // that it may reach one
	}{
		"none":                      {Spec{}, false},
		"the network":               {Spec{Network: true}, landlockABI() < signalsABI},
		"processes":                 {Spec{Processes: true}, false},
		"the network and processes": {Spec{Network: true, Processes: true}, landlockABI() < signalsABI},
	} {
		test.spec.Apply = all
		got := try(t, test.spec, fmt.Sprint("signal:", os.Getpid()), "unix:"+name)
		if got["signal"] == "done" || (got["unix"] == "done") != test.abstract {
			t.Errorf("with grants for %s: %v", grants, got)
		}
	}
}

func TestPrivilegesAndLimits(t *testing.T) {
	got := try(t, Spec{Apply: everything(t), MaxMemory: 1 << 30}, "no-new-privs", "capabilities", "cores", "files", "size", "memory")
	want := map[string]string{
		"no-new-privs": "1", "capabilities": "0000000000000000", "cores": "0", "files": fmt.Sprint(min(maxOpen, hard(t, syscall.RLIMIT_NOFILE))),
		"size": fmt.Sprint(MaxDisk), "memory": fmt.Sprint(1 << 30),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// hard is a limit of this process that no child can exceed.
func hard(t *testing.T, resource int) uint64 {
	t.Helper()
	var l syscall.Rlimit
	if err := syscall.Getrlimit(resource, &l); err != nil {
		t.Fatal(err)
	}
	return l.Max
}

func TestWhatCannotBeStarted(t *testing.T) {
	all := everything(t, Files)
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/nowhere/node\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		spec    Spec
		program string
		is      error
		says    string
	}{
		"no interpreter":             {Spec{Apply: all, KeepBinary: true}, script, syscall.ENOENT, "no such file"},
		"a grant that leads nowhere": {Spec{Apply: all, Read: []string{"/nowhere"}}, inside, nil, "what it was granted to read: /nowhere: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, test.spec, test.program)
			var failure *Failure
			if !errors.As(err, &failure) || !strings.Contains(err.Error(), test.says) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestProbeSpeaksOfEveryMeasure(t *testing.T) {
	var got []Measure
	for _, c := range Probe() {
		got = append(got, c.Measure)
		if c.How == "" {
			t.Errorf("%s: nothing is said of how, or why not", c.Measure)
		}
	}
	if diff := cmp.Diff(measures, got); diff != "" {
		t.Error(diff)
	}
}

// What 'thresh doctor' does that takes time: its launchers are this test.
func BenchmarkProbe(b *testing.B) {
	for b.Loop() {
		Probe()
	}
}

func TestReadable(t *testing.T) {
	if !Readable(systemFile(t)) {
		t.Error("a system file is not readable")
	}
	for _, path := range []string{"/etc/passwd", "/home/x/.nvm/node", "/usrlocal/x"} {
		if Readable(path) {
			t.Errorf("%s is readable", path)
		}
	}
}

func TestWhatALauncherReports(t *testing.T) {
	for name, test := range map[string]struct{ wrote, want string }{
		"nothing":      {"", ""},
		"a failure":    {`{"step":"exec","errno":2,"text":"no such file"}`, "no such file"},
		"no failure":   {"panic: oh", `the launcher said "panic: oh"`},
		"a long story": {strings.Repeat("x", 1<<20), "the launcher said"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := NewLauncher(Spec{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			// it fails if it is not read to the end
			go func() { _, _ = io.WriteString(l.theirs, test.wrote); _ = l.theirs.Close() }()
			_, err = l.await()
			if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %.100v", err)
			}
		})
	}
}
