// Package filelock locks files and directories for as long as they are open: a lock ends with its process, however that
// ends, and needs no cleanup.
package filelock

import "errors"

// ErrHeld says that another open file has the lock.
var ErrHeld = errors.New("it is locked by another process")
