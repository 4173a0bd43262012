package fault

import (
	"errors"
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
func IsHost(err error) bool { return errors.Is(err, ErrHost) || shortage(err) != "" }

// shortage says what to do about a shortage; "" if err is none.
func shortage(err error) string {
	for _, s := range shortages {
		if errors.Is(err, s.errno) {
			return s.hint
		}
	}
	return ""
}
