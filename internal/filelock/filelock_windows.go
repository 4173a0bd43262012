package filelock

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// File opens a file for reading and writing, with further flags of [os.OpenFile], and locks it. The file can be renamed
// meanwhile, and is no symbolic link. The error is [ErrHeld] if it is locked.
func File(path string, flag int) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	how := uint32(windows.OPEN_EXISTING)
	switch flag & (os.O_CREATE | os.O_EXCL) {
	case os.O_CREATE:
		how = windows.OPEN_ALWAYS
	case os.O_CREATE | os.O_EXCL:
		how = windows.CREATE_NEW
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, share, nil, how,
		windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	// A byte far behind the end: unlike flock, the lock keeps others from reading what it covers.
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err = windows.LockFileEx(h, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		err = ErrHeld
	}
	if err != nil {
		_ = windows.CloseHandle(h)
		return nil, err
	}
	return os.NewFile(uintptr(h), path), nil
}

// Directory locks a directory, by a file in it. The error is [ErrHeld] if it is locked.
func Directory(dir string) (*os.File, error) { return File(filepath.Join(dir, ".lock"), os.O_CREATE) }
