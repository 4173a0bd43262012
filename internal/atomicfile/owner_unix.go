//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// Permissions are what the mode of a file lets whom do.
func Permissions(info fs.FileInfo) fs.FileMode { return info.Mode().Perm() }

func giveTo(f *os.File, like fs.FileInfo) error {
	if owner, ok := like.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		return f.Chown(int(owner.Uid), int(owner.Gid))
	}
	return nil
}
