package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

func TestWhoIsToBlameForAFailedStart(t *testing.T) {
	there, gone := t.TempDir(), filepath.Join(t.TempDir(), "gone")
	start := func(errno syscall.Errno) error { return &os.PathError{Op: "fork/exec", Path: "/p", Err: errno} }
	for name, test := range map[string]struct {
		err         error
		dir, stderr string
		host        bool
	}{
		"no processes":                         {err: start(syscall.EAGAIN), dir: there, host: true},
		"no memory":                            {err: start(syscall.ENOMEM), dir: there, host: true},
		"no descriptors":                       {err: start(syscall.EMFILE), dir: there, host: true},
		"no directory was made for it":         {err: start(syscall.EACCES), host: true},
		"its directory was removed":            {err: start(syscall.ENOENT), dir: gone, host: true},
		"its directory went, and it timed out": {dir: gone, host: true},
		"the launcher is stuck": {err: fmt.Errorf("%w: 5s", isolate.ErrLauncher), dir: there,
			host: true},
		"no thread for Go's runtime": {
			err: errors.New("it exited"), dir: there, host: true,
			stderr: "runtime: failed to create new OS thread (have 5 already; errno=11)\n",
		},
		"more threads than a plugin may have": {
			err: errors.New("it exited"), dir: there,
			stderr: "runtime: failed to create new OS thread (have 512 already; errno=11)\n",
		},
		"no interpreter":     {err: start(syscall.ENOENT), dir: there},
		"another system's":   {err: start(syscall.ENOEXEC), dir: there},
		"it exited":          {err: errors.New("it exited"), dir: there, stderr: "panic: too many open files\n"},
		"it timed out":       {dir: there},
		"a missing grant":    {err: &isolate.Failure{Step: "files", Errno: uintptr(syscall.ENOENT)}, dir: there},
		"the caller left":    {err: context.Canceled, dir: gone},
		"the host is ending": {err: fault.ErrClosed, dir: gone},
	} {
		t.Run(name, func(t *testing.T) {
			b := discover.Socket(discover.Candidate{Name: "x", Path: "/p"})
			p := &Process{spec: Spec{Binary: b}, child: newChild(b, Sandbox{}, hclog.NewNullLogger(), nil)}
			p.child.dir = test.dir
			_, _ = p.child.stderr.Write([]byte(test.stderr))
			if got := p.Lacking(test.err); (got != nil) != test.host || test.host && !fault.IsHost(got) {
				t.Errorf("got %v", got)
			}
		})
	}
}
