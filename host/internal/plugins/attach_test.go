package plugins

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
	"github.com/thresh-dev/thresh/host/internal/plugins/trust"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/wire"

	"github.com/google/go-cmp/cmp"
)

// byHand starts the honest plugin as an author does who wants to attach a host to it, and returns its socket.
func byHand(t *testing.T) (cmd *exec.Cmd, socket string) {
	t.Helper()
	cmd = exec.Command(honest, "--attach")
	cmd.Env = []string{"TMPDIR=" + plugintest.ShortTemp(t)}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	socket, ok := strings.CutPrefix(strings.TrimSpace(line), "--attach=honest=")
	if !ok || err != nil {
		t.Fatalf("it printed %q, %v", line, err)
	}
	return cmd, socket
}

func TestAPluginThatWasStartedByHandIsUsed(t *testing.T) {
	t.Parallel()
	cmd, socket := byHand(t)
	dir := pluginDir(t, "honest")
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{dir}, Isolation: process.IsolationStrict,
		Integrity: trust.Locked, LockFile: filepath.Join(t.TempDir(), "plugins.lock")},
		Attach: map[string]string{"honest": socket}})
	s := strategy(t, m, "honest")
	if got, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "chaff", "b")}); err != nil ||
		len(got.Edits) != 1 {
		t.Errorf("%v, %v", got.Edits, err)
	}
	type row struct {
		path  string
		state State
	}
	var rows []row
	list := m.List(t.Context())
	for _, l := range list {
		rows = append(rows, row{l.Path, l.State})
	}
	want := []row{{socket, StateReady}, {filepath.Join(dir, FilePrefix+"honest"), StateShadowed}}
	if diff := cmp.Diff(want, rows, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"everything: it was started by hand"}, list[0].Lacking); diff != "" {
		t.Error(diff)
	}
	if _, err := m.Lock(t.Context(), "honest"); err == nil || !strings.Contains(err.Error(), "started by hand") {
		t.Errorf("locked: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error("it goes with the host that used it, without complaint:", err)
	}
}

// A process that speaks plain go-plugin is not the host's to end.
func TestAPlainProcessOutlivesTheHostThatUsesIt(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(honest)
	dir := plugintest.ShortTemp(t)
	cmd.Env = []string{"TMPDIR=" + dir, "PLUGIN_UNIX_SOCKET_DIR=" + dir, "PLUGIN_PROTOCOL_VERSIONS=1",
		wire.Handshake().MagicCookieKey + "=" + wire.Handshake().MagicCookieValue}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	fields := strings.Split(line, "|")
	if err != nil || len(fields) < 5 {
		t.Fatalf("it printed %q, %v", line, err)
	}
	m := open(t, Options{Attach: map[string]string{"honest": fields[3]}})
	got, err := strategy(t, m, "honest").Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "chaff", "b")})
	if err != nil || len(got.Edits) != 1 {
		t.Fatalf("%v, %v", got.Edits, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	conn, err := net.Dial("unix", fields[3])
	if err != nil {
		t.Fatal("the host has ended it:", err)
	}
	_ = conn.Close()
}

func TestAPluginThatWasStartedByHandMayEnd(t *testing.T) {
	t.Parallel()
	cmd, socket := byHand(t)
	s := strategy(t, open(t, Options{Plugins: config.Plugins{MaxCrashes: 1},
		Attach: map[string]string{"honest": socket}}), "honest")
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	plugintest.Eventually(t, "that is noticed", func() bool { state, _ := s.State(); return state == StateCrashed })
	for range 2 { // it is not put into quarantine
		_, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")})
		if !errors.Is(err, ErrNotPlugin) || !strings.Contains(err.Error(), "no process answers at this socket") ||
			!strings.Contains(err.Error(), "--attach") {
			t.Errorf("got %v", err)
		}
	}
}

// A call waits for an author who stands at a breakpoint.
func TestAPluginThatWasStartedByHandHasNoDeadline(t *testing.T) {
	t.Parallel()
	cmd, socket := byHand(t)
	s := strategy(t, open(t, Options{Plugins: config.Plugins{OptimizeTimeout: time.Millisecond,
		StartTimeout: time.Minute}, Attach: map[string]string{"honest": socket}}), "honest")
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	plugintest.Eventually(t, "it stands still", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		return err == nil && strings.Contains(string(stat), ") T ")
	})
	done := make(chan error, 1)
	go func() {
		_, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")})
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(100 * time.Millisecond): // far above the deadline of others
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestNobodyIsThereToBeAttachedTo(t *testing.T) {
	t.Parallel()
	deaf := plugintest.Write(t, t.TempDir(), "file", "no socket", 0o600)
	for _, socket := range []string{"/nowhere", deaf} {
		m := open(t, Options{Attach: map[string]string{"honest": socket}})
		if _, err := m.Strategy(t.Context(), "honest"); !errors.Is(err, ErrNotPlugin) ||
			!strings.Contains(err.Error(), "no process answers at this socket") {
			t.Errorf("%s: %v", socket, err)
		}
	}
}
