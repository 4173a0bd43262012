package fault

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestErrorShowsThePanicAndNotItsWholeStack(t *testing.T) {
	stderr := strings.Repeat("before\n", 50) + "panic: the reason\n" + strings.Repeat("stack\n", 100)
	err := &Error{Plugin: "s", Path: "/p", Op: OpOptimize, Err: ErrPluginCrashed, Stderr: stderr}
	want := `strategy "s": optimize: plugin process crashed (/p)` +
		"\nlast lines of its standard error:\n  panic: the reason" + strings.Repeat("\n  stack", 11)
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
}
