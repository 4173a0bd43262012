//go:build unix

package sqlite

import "syscall"

// fileSizeLimit is how large a file of this process may get (ulimit -f), in bytes.
func fileSizeLimit() (most uint64, ok bool) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit)
	return uint64(limit.Cur), err == nil
}

// spaceLeft is what the file system of a file still takes, in bytes; false for a file system that does not say.
func spaceLeft(path string) (left uint64, ok bool) {
	var at syscall.Statfs_t
	err := syscall.Statfs(path, &at)
	return uint64(at.Bavail) * uint64(at.Bsize), err == nil && at.Blocks > 0
}
