package fault

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
)

// shortages are the system's errors for what the machine or the host has run out of.
var shortages = []struct {
	errno syscall.Errno
	hint  string
}{
	{syscall.EMFILE, "raise the limit of open files (ulimit -n)"},
	{syscall.ENFILE, "the whole system has too many open files"},
	{syscall.ENOSPC, "free space, or inodes (df -i)"},
	{syscall.EDQUOT, "free space in the user's quota"},
	{syscall.EROFS, "the file system must be writable"},
	{syscall.EAGAIN, "too many processes or threads (ulimit -u, the cgroup's pids.max)"},
	{syscall.ENOMEM, "free memory"},
}

// IsHost reports whether an error is the fault of the host's environment: an [ErrHost], or a system error for a
// shortage of descriptors, space, memory or processes. Errors that a plugin sent never are: they carry no error number.
func IsHost(err error) bool {
	return errors.Is(err, ErrHost) || hint(err) != ""
}

func hint(err error) string {
	i := slices.IndexFunc(shortages, func(s struct {
		errno syscall.Errno
		hint  string
	}) bool {
		return errors.Is(err, s.errno)
	})
	if i < 0 {
		return ""
	}
	return shortages[i].hint
}

// Host returns the error for a plugin that could not be set up because of the host's environment. It is no crash, and
// the same call may succeed once the cause is gone.
func Host(plugin, path string, op Op, err error) *Error {
	if !errors.Is(err, ErrHost) {
		err = fmt.Errorf("%w: %w", ErrHost, err)
	}
	e := &Error{Plugin: plugin, Path: path, Op: op, Err: err, Retryable: true, Blameless: true}
	e.Hint = "the plugin is not at fault, and the next call tries again"
	if what := hint(err); what != "" {
		e.Hint = what + "; " + e.Hint
	}
	return e
}
