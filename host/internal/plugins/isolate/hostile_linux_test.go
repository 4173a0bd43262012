package isolate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
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

// hostReport is what testdata/hostile prints.
type hostReport struct {
	Sees, Reached bool
	Listed        bool
	Open, Shared  []int
	Setuid        bool
	Namespace     string
	Group         int
}

// attack lets the hostile program loose on targets, with a descriptor that the host inherited, and returns what it
// found.
func attack(t *testing.T, apply []Measure, targets map[string]any) (r hostReport) {
	t.Helper()
	leaked, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer leaked.Close()
	file, err := leaked.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	// Without close-on-exec: as what the host's own parent left open.
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(targets)
	if err != nil {
		t.Fatal(err)
	}
	out, err := run(t, Spec{Apply: apply}, hostile, string(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return r
}

// victim starts a process of the same user that does nothing.
func victim(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// state is all about a file that a plugin could change.
func state(t *testing.T, path string) string {
	t.Helper()
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return err.Error()
	}
	names := make([]byte, 1024)
	n, _ := unix.Listxattr(path, names)
	return fmt.Sprintf("%o %d:%d %d %d %q", s.Mode, s.Uid, s.Gid, s.Mtim.Nano(), s.Size, names[:max(n, 0)])
}

// limitsOf is what other processes can set of a process.
func limitsOf(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		t.Fatal(err)
	}
	var cpus unix.CPUSet
	_ = unix.SchedGetaffinity(pid, &cpus)
	nice, _ := unix.Getpriority(unix.PRIO_PROCESS, pid)
	return fmt.Sprintf("%s\ncpus %d, priority %d", text, cpus.Count(), nice)
}

func TestAHostileProgramHasNoEffect(t *testing.T) {
	// Not Signals: without a grant, the filter and the namespaces close the same holes, also before Linux 6.12.
	all := everything(t, Files, Network, Paths, Sockets, Calls, Descriptors)
	t.Run("in namespaces", func(t *testing.T) {
		r := hasNoEffect(t, all)
		if ours, _ := os.Readlink("/proc/self/ns/net"); r.Namespace == ours {
			t.Error("it is in the host's network namespace")
		}
		if r.Sees || r.Listed {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("without namespaces", func(t *testing.T) {
		hasNoEffect(t, without(without(all, Paths), Signals))
	})
}

// without returns all measures but one.
func without(all []Measure, missing Measure) []Measure {
	return slices.DeleteFunc(slices.Clone(all), func(m Measure) bool { return m == missing })
}

// hasNoEffect lets the hostile program loose under these measures, and looks at what became of its targets.
func hasNoEffect(t *testing.T, apply []Measure) hostReport {
	t.Helper()
	_, file := secrets(t)
	other := victim(t)
	_, socket := listen(t)
	before, limits := state(t, file), limitsOf(t, other.Process.Pid)
	null := state(t, "/dev/null")

	dialled := make(chan bool)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // programs outside may connect, too
		defer close(dialled)
		for ctx.Err() == nil {
			if conn, err := net.Dial("unix", "@hostile"); err == nil {
				_ = conn.Close()
				t.Error("an abstract socket of the program could be reached from outside")
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	r := attack(t, apply, map[string]any{"File": file, "Victim": other.Process.Pid, "Socket": socket})
	cancel()
	<-dialled

	if got := state(t, file); got != before {
		t.Errorf("the file was changed: %s, was %s", got, before)
	}
	if got := state(t, "/dev/null"); strings.Fields(got)[0] != strings.Fields(null)[0] {
		t.Errorf("/dev/null was changed: %s, was %s", got, null)
	}
	if got := limitsOf(t, other.Process.Pid); got != limits {
		t.Errorf("limits of another process were changed: %s\nwas %s", got, limits)
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Error("the victim is gone:", err)
	}
	if r.Reached || !slices.Equal(r.Open, []int{LifelineFD}) || len(r.Shared) > 0 || r.Setuid {
		t.Errorf("got %+v", r)
	}
	return r
}

// A program has its own sockets, with namespaces and without.
func TestAProgramReachesItsOwnSockets(t *testing.T) {
	all := everything(t, Paths, Sockets, Calls)
	for name, apply := range map[string][]Measure{"in namespaces": all, "without": without(all, Paths)} {
		if got := try(t, Spec{Apply: apply}, "own")["own"]; got != "done" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// groupFile is where doomed writes the control group of its program, if it has one.
const groupFile = "group"

// doomed runs as a process of its own: it starts the hostile program, tells its process id, and waits to be killed.
// Nothing but the watcher ends the program.
func doomed(runDir string) {
	w, err := NewWatcher()
	if err != nil {
		fmt.Println(err)
		return
	}
	var apply []Measure
	for _, c := range Probe() {
		if c.Works {
			apply = append(apply, c.Measure)
		}
	}
	defer w.Close() // it must be reachable until the end: its socket is what tells the watcher that the host lives
	binary, err := os.Open(hostile)
	if err != nil {
		fmt.Println(err)
		return
	}
	groups, _ := OpenGroups()
	group, err := groups.New()
	if group != nil {
		err = os.WriteFile(filepath.Join(runDir, groupFile), []byte(group.dir.Name()), 0o600)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := Spec{Args: []string{hostile, `{"Cling":true}`}, RunDir: runDir, Apply: apply}
	handles := Handles{Stdout: os.Stdout, Stderr: os.Stderr, Lifeline: os.Stdin, Binary: binary}
	cmd, guard, err := startedIn(group, spec, handles)
	if err != nil {
		fmt.Println(err)
		return
	}
	if guard != nil {
		NewGuard(guard, runDir, func(string) {})
	}
	fmt.Println(cmd.Process.Pid)
	pidfd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Watch(cmd.Process.Pid, pidfd, group); err != nil {
		fmt.Println(err)
	}
	_ = cmd.Wait()
}

func TestNoProgramOutlivesAHostThatIsKilled(t *testing.T) {
	everything(t, Ending, Calls)
	host, runDir := exec.Command("/proc/self/exe"), t.TempDir()
	host.Env = append(os.Environ(), doomedEnv+"="+runDir, hostileEnv+"="+hostile)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var pid, group int
	for lines.Scan() {
		var r hostReport
		switch text := lines.Text(); {
		case pid == 0:
			if _, err := fmt.Sscan(text, &pid); err != nil {
				t.Fatal(text)
			}
			continue
		case json.Unmarshal([]byte(text), &r) == nil:
			group = r.Group
		default:
			t.Fatal(text)
		}
		break
	}
	if group != pid {
		t.Errorf("the program %d is in process group %d", pid, group)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	controlGroup, _ := os.ReadFile(filepath.Join(runDir, groupFile))
	_ = host.Process.Kill()
	// Busy machines need the generous bound; a program that clings never ends.
	deadline := time.Now().Add(10 * time.Second)
	for {
		ended := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ended, 100)
		if n == 1 {
			break
		}
		if time.Now().After(deadline) {
			_ = unix.Kill(pid, unix.SIGKILL)
			t.Fatalf("the program outlives its host: %v", err)
		}
	}
	_ = host.Wait()
	// The watcher removes the group after that.
	for len(controlGroup) > 0 {
		if _, err := os.Stat(string(controlGroup)); errors.Is(err, fs.ErrNotExist) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("left behind: %s", controlGroup)
		}
		time.Sleep(time.Millisecond)
	}
}

// closing runs as a process of its own. It closes what it inherited, and then waits for a timer and for a pipe: without
// what Go's runtime waits with, that ends a program.
func closing() {
	r, w, err := os.Pipe()
	if err != nil {
		fmt.Println(err)
		return
	}
	closeInherited(3)
	var stat unix.Stat_t
	fmt.Println("inherited:", unix.Fstat(3, &stat))
	go func() { _, _ = w.WriteString("!") }()
	_, err = r.Read(make([]byte, 1))
	fmt.Println("a pipe:", err)
	_ = r.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err = r.Read(make([]byte, 1))
	fmt.Println("a deadline:", errors.Is(err, os.ErrDeadlineExceeded))
}

func TestAWatcherClosesWhatItInheritedAndNothingElse(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env, cmd.ExtraFiles = append(os.Environ(), closingEnv+"=1", hostileEnv+"="+hostile), []*os.File{w}
	out, err := cmd.CombinedOutput()
	_ = w.Close()
	want := "inherited: bad file descriptor\na pipe: <nil>\na deadline: true\n"
	if string(out) != want || err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A program that may start others cannot leave one behind: it is the first process of its namespace.
func TestWhatAProgramStartsEndsWithIt(t *testing.T) {
	all := everything(t, Ending, Paths, Processes)
	seconds := fmt.Sprintf("86400.%d", os.Getpid()) // its command line is how it is found
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Skip("SKIPPED:", err)
	}
	_, err = run(t, Spec{Apply: all, Processes: true}, shell,
		"-c", "sleep "+seconds+" >/dev/null 2>&1 & setsid sleep "+seconds+" >/dev/null 2>&1 & exit 0")
	if err != nil {
		t.Fatal(err)
	}
	if left := sleeping(seconds); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// A filter must hold on the architecture that the tests do not run on, too.
func TestTheFilterFitsTheKernelsLimits(t *testing.T) {
	if native == nil {
		t.Skip("SKIPPED: there is no filter for this architecture")
	}
	for _, arch := range []architecture{*native, {audit: unix.AUDIT_ARCH_AARCH64}} {
		for _, r := range []refusal{{}, {sockets: true, processes: true, signals: true}} {
			program := filter(arch, r, 1)
			if len(program) > 4096 {
				t.Errorf("%d instructions, 4096 are allowed", len(program))
			}
			for i, in := range program {
				if in.Code&7 == unix.BPF_JMP && i+1+int(max(in.Jt, in.Jf)) >= len(program) {
					t.Errorf("instruction %d jumps out of the program", i)
				}
			}
		}
	}
	if both := slices.DeleteFunc(slices.Clone(allowedCalls), func(call uint32) bool {
		return !slices.Contains(refusedCalls, call)
	}); len(both) > 0 {
		t.Errorf("allowed and refused: %v", both)
	}
}

// Isolation must work for everyone, so these are the same tests without the rights of root.
func TestAHostileProgramOfAnotherUser(t *testing.T) {
	everything(t, Paths)
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: the other tests have shown it")
	}
	dir, err := os.MkdirTemp("", "isolate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	test, program := filepath.Join(dir, "test"), filepath.Join(dir, "hostile")
	for from, to := range map[string]string{
		"/proc/self/exe": test, hostile: program, inside: filepath.Join(dir, "inside"),
	} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, text, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(test, "-test.v", "-test.run", "TestAHostileProgramHasNoEffect|TestAProgramReaches|TestNoProgramOutlives")
	cmd.Dir, cmd.Env = dir, []string{"TMPDIR=" + dir, "PATH=/usr/bin:/bin", hostileEnv + "=" + program}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "SKIP") || !strings.Contains(string(out), "PASS") {
		t.Errorf("as another user: %v\n%s", err, out)
	}
}
