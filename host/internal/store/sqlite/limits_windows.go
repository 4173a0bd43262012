package sqlite

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// fileSizeLimit is false: there is none.
func fileSizeLimit() (most uint64, ok bool) { return 0, false }

// spaceLeft is what this user may still write to the volume of a file, in bytes.
func spaceLeft(path string) (left uint64, ok bool) {
	dir, err := windows.UTF16PtrFromString(filepath.Dir(path))
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(dir, &left, nil, nil)
	}
	return left, err == nil
}
