package serve_test

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What a host does with the line is tested where the hosts are.
func TestAPluginThatIsToBeAttachedToSaysWhereAndEndsWhenInterrupted(t *testing.T) {
	cmd := built(t, "keep-last")
	cmd.Args = append(cmd.Args, "--attach")
	short, err := os.MkdirTemp("", "t") // t.TempDir's path is too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	cmd.Env = []string{"TMPDIR=" + short}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	socket, ok := strings.CutPrefix(strings.TrimSpace(line), "--attach=keep-last=")
	if !ok || err != nil {
		t.Fatalf("it printed %q, %v", line, err)
	}
	info, err := os.Stat(filepath.Dir(socket))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("others can reach the socket: %v, %v", info, err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, stderr.String())
	}
	if _, err := os.Stat(filepath.Dir(socket)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is left: %v", err)
	}
	if !strings.Contains(stderr.String(), "The host does not verify, isolate or end this process") {
		t.Errorf("it does not say what that means: %s", stderr.String())
	}
}
