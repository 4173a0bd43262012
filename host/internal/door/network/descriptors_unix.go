//go:build unix

package network

import "syscall"

// descriptorLimit is how many files this process may have open.
func descriptorLimit() (most uint64, ok bool) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return uint64(limit.Cur), err == nil
}
