package discover

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// openToRun lets others read the file, but neither write, rename nor remove it while it is open: the path leads to this
// very file for as long.
func openToRun(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING,
		windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// basicInfo is FILE_BASIC_INFO; times are in units of 100 ns since 1601.
type basicInfo struct {
	created, accessed, written, changed windows.Filetime
	attributes, _                       uint32
}

func identify(f *os.File) (identity, error) {
	h := windows.Handle(f.Fd())
	var s windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &s); err != nil {
		return identity{}, err
	}
	var b basicInfo
	err := windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&b)),
		uint32(unsafe.Sizeof(b)))
	return identity{
		device: uint64(s.VolumeSerialNumber), inode: joined(s.FileIndexHigh, s.FileIndexLow),
		size: int64(joined(s.FileSizeHigh, s.FileSizeLow)), modified: s.LastWriteTime.Nanoseconds(),
		changed: b.changed.Nanoseconds(),
	}, err
}

func joined(high, low uint32) uint64 { return uint64(high)<<32 | uint64(low) }

// identifyPath opens the file, or directory, without any right to its content, which nothing that others do excludes.
func identifyPath(path string) (identity, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return identity{}, err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, share, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return identity{}, err
	}
	f := os.NewFile(uintptr(h), path)
	defer f.Close()
	return identify(f)
}

const suffix = ".exe" // of a plugin's file name, in any case

// Executable: the name decides, see [StrategyName].
func Executable(os.FileInfo) bool { return true }

// programHeads begin the files that Windows runs itself.
var programHeads = [][]byte{[]byte("MZ")}

const notProgram = "is not a program for Windows"

// running returns the path of the program that runs. Windows keeps it from being written to or removed; after an update
// that renamed it, this is the new one.
func running(program string) string { return program }

// Executable returns the file's path: for as long as the file is open, it leads to no other.
func (b *Binary) Executable(string, int) (path string, inherit []*os.File, done func(), err error) {
	return b.Path, nil, func() {}, nil
}
