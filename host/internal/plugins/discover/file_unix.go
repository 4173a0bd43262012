//go:build unix

package discover

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// openToRun does not block: a named pipe that has taken the file's place would wait for a writer.
func openToRun(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

func identify(f *os.File) (identity, error) {
	var s unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &s)
	return identityOf(&s), err
}

func identifyPath(path string) (identity, error) {
	var s unix.Stat_t
	err := unix.Stat(path, &s)
	return identityOf(&s), err
}

func identityOf(s *unix.Stat_t) identity {
	return identity{
		device: uint64(s.Dev), inode: s.Ino, size: s.Size,
		modified: s.Mtim.Nano(), changed: s.Ctim.Nano(),
	}
}

const suffix = "" // of a plugin's file name

// Executable says whether a file may be run, by its mode.
func Executable(info os.FileInfo) bool { return info.Mode().Perm()&0o111 != 0 }

// programHeads begin the files that the supported kernels execute: ELF, Mach-O (thin and universal), scripts.
var programHeads = [][]byte{
	[]byte("\x7fELF"), []byte("\xcf\xfa\xed\xfe"), []byte("\xca\xfe\xba\xbe"), []byte("#!"),
}

const notProgram = "is neither a program nor a script that begins with #!"

// privateCopy copies the open file into dir, which only the user can enter, and checks the copy's hash. Systems that
// cannot execute an open file use it.
func (b *Binary) privateCopy(dir string) (path string, inherit []*os.File, done func(), err error) {
	path = filepath.Join(dir, filepath.Base(b.Path))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o700)
	if err != nil {
		return "", nil, nil, err
	}
	sum, err := hash(io.TeeReader(io.NewSectionReader(b.file, 0, b.id.size), f))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", nil, nil, err
	}
	if sum != b.Sum {
		return "", nil, nil, errWritten
	}
	return path, nil, func() {}, nil
}
