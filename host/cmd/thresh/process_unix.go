//go:build unix

package main

import (
	"errors"
	"syscall"
)

// runs reports whether there is a process with an id. EPERM means that there is, as another user's.
func runs(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
