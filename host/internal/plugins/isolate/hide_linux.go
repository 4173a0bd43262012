package isolate

import "golang.org/x/sys/unix"

// HideSelf hides this process's environment, memory and descriptors in /proc from other unprivileged processes of the
// user. Afterwards this process can start none in a user namespace, unless it is root.
func HideSelf() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
