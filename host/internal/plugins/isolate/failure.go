package isolate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// stepExec is the step in which a launcher becomes the program.
const stepExec = "exec"

// Error says what failed, in the system's words where the program itself could not be run.
func (f *Failure) Error() string {
	if f.Step == stepExec {
		return f.Text
	}
	return fmt.Sprintf("isolating it (%s): %s", f.Step, f.Text)
}

// Unwrap returns the [syscall.Errno] if the program itself could not be run.
func (f *Failure) Unwrap() error {
	if f.Step == stepExec && f.Errno != 0 {
		return syscall.Errno(f.Errno)
	}
	return nil
}

func newFailure(step string, err error) *Failure {
	f := &Failure{Step: step, Text: err.Error()}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		f.Errno = uintptr(errno)
	}
	return f
}

// Await reads from the other end of [Spec.Status] until the launcher has become the program, within limit. It returns a
// [*Failure] if it did not.
func Await(status *os.File, limit time.Duration) error {
	if err := status.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(status, 64<<10))
	if err != nil {
		return fmt.Errorf("waiting for the launcher: %w", err)
	}
	if len(text) == 0 {
		return nil
	}
	f := new(Failure)
	if err := json.Unmarshal(text, f); err != nil {
		return fmt.Errorf("the launcher said %q", text)
	}
	return f
}
