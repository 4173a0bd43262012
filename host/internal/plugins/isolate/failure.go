package isolate

import (
	"errors"
	"fmt"
	"syscall"
)

// stepExec is the step in which a launcher becomes the program. Its failures are about the program, not the isolation.
const stepExec = "exec"

// ErrLauncher begins the errors of a launcher that did not report what became of it. It is the host's own program, so
// no plugin is to blame.
var ErrLauncher = errors.New("the launcher")

// ErrGone says that a launcher ended before it was told what to become: nothing of the program has run.
var ErrGone = errors.New("the launcher is gone")

// Error names the failed step. For exec it is the system's error alone, as if the program had been started directly.
func (f *Failure) Error() string {
	if f.Step == stepExec {
		return f.Text
	}
	return fmt.Sprintf("isolating it (%s): %s", f.Step, f.Text)
}

// IsSetup reports whether the isolation failed, and not the program itself.
func (f *Failure) IsSetup() bool { return f.Step != stepExec }

func (f *Failure) Unwrap() error {
	if f.Errno != 0 {
		return syscall.Errno(f.Errno)
	}
	return nil
}

// newFailure keeps the error number: errors.Is needs it on the other side of the pipe.
func newFailure(step string, err error) *Failure {
	f := &Failure{Step: step, Text: err.Error()}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		f.Errno = uintptr(errno)
	}
	return f
}
