package process

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// watch kills processes that are left when the host ends, with one watcher for all of a spawner's processes. A program
// that cannot be a watcher does without; the measure "ending" is then listed as missing. It is not safe for concurrent
// use.
type watch struct {
	watcher *isolate.Watcher
}

// start starts cmd, and has it watched with its control group, if it has one.
func (w *watch) start(cmd *exec.Cmd, group *isolate.Group) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	pidfd := -1
	// A pidfd from the start cannot be of another process with the same id.
	cmd.SysProcAttr.PidFD = &pidfd
	if err := cmd.Start(); err != nil {
		return err
	}
	if pidfd < 0 { // a kernel before 5.4
		return nil
	}
	defer unix.Close(pidfd)
	if watcher := w.current(); watcher != nil {
		// It fails if the watcher was killed. The lifeline remains.
		_ = watcher.Watch(cmd.Process.Pid, pidfd, group)
	}
	return nil
}

// current returns nil if there can be no watcher. It replaces one that was killed.
func (w *watch) current() *isolate.Watcher {
	if w.watcher != nil {
		select {
		case <-w.watcher.Ended():
			w.watcher.Close()
			w.watcher = nil
		default:
		}
	}
	if w.watcher == nil && isolate.Registered() {
		w.watcher, _ = isolate.NewWatcher()
	}
	return w.watcher
}

// close kills what is left, and ends the watcher.
func (w *watch) close() {
	if w.watcher != nil {
		w.watcher.Close()
		w.watcher = nil
	}
}
