package rundir

import (
	"errors"
	"os"
)

// removeLocked gives up the lock on a directory, and then removes it: a file that is open keeps its directory. Another
// host may begin to remove it as well.
func removeLocked(dir string, lock *os.File) error { return errors.Join(lock.Close(), RemoveAll(dir)) }
