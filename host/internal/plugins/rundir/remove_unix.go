//go:build unix

package rundir

import (
	"errors"
	"os"
)

// removeLocked removes a directory, and then gives up the lock on it.
func removeLocked(dir string, lock *os.File) error { return errors.Join(RemoveAll(dir), lock.Close()) }
