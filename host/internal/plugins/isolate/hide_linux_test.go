package isolate_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
)

// Without Landlock and namespaces, a process of the same user reads the environment, until the process hides itself.
func TestTheEnvironmentCanBeHidden(t *testing.T) {
	const key, built = "THRESH_TEST_KEY=secret", "THRESH_TEST_HOSTILE=none" // as it needs no other program
	if os.Getenv("THRESH_TEST_KEY") == "" {                                 // in a process of its own: this one must not hide
		var got string
		if os.Geteuid() == 0 { // which has more rights than what it starts without any
			got = plugintest.AsNobody(t, t.Name(), nil, key, built)
		} else {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
			cmd.Env = append(os.Environ(), key, built)
			text, _ := cmd.CombinedOutput()
			got = string(text)
		}
		if !strings.Contains(got, "--- PASS") {
			t.Error(got)
		}
		return
	}
	read := func() string {
		text, _ := exec.CommandContext(t.Context(), "cat", fmt.Sprintf("/proc/%d/environ", os.Getpid())).CombinedOutput()
		return string(text)
	}
	if before := read(); !strings.Contains(before, key) {
		t.Errorf("before: %q", before)
	}
	if err := isolate.HideSelf(); err != nil {
		t.Fatal(err)
	}
	if after := read(); strings.Contains(after, "=") || !strings.Contains(after, "ermission denied") {
		t.Errorf("another process reads %q", after)
	}
	// What it starts is as before: it can still start plugins.
	if text, err := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.list", "^$").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}
