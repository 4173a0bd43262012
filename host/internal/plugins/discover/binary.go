package discover

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
)

// Binary is a plugin's file, open. What is hashed and what is run is the file that the path led to when it was
// opened, even if another file has taken its place since. Close it.
type Binary struct {
	Candidate
	// Sum is the file's SHA-256 in hexadecimal. For a file that is Trusted it is a text that tells it from other files.
	Sum string
	// Trusted says that the file came with the host and was not hashed: hashing takes longer than starting it, and would
	// prove nothing.
	Trusted bool
	// Script says that the file begins with #!.
	Script bool

	file *os.File
	id   identity
}

// identity changes whenever a file is replaced or written to: only the kernel sets the time of the last change.
type identity struct {
	device, inode     uint64
	size              int64
	modified, changed int64 // ns since 1970
}

func identify(s *unix.Stat_t) identity {
	return identity{
		device: uint64(s.Dev), inode: s.Ino, size: s.Size,
		modified: s.Mtim.Nano(), changed: s.Ctim.Nano(),
	}
}

// Open opens a plugin's file and hashes it, unless trusted reports that the hash is of no use. trusted may be nil.
func Open(c Candidate, h *Hashes, trusted func(path string, stat *unix.Stat_t) bool) (*Binary, error) {
	f, err := os.OpenFile(c.Path, os.O_RDONLY|unix.O_NONBLOCK, 0) // O_NONBLOCK: a named pipe must not block
	if err != nil {
		return nil, err
	}
	b := &Binary{Candidate: c, file: f}
	if err := b.read(h, trusted); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return b, nil
}

// Socket is the Binary of a candidate that a developer started by hand: there is no file to open.
func Socket(c Candidate) *Binary { return &Binary{Candidate: c} }

func (b *Binary) read(h *Hashes, trusted func(path string, stat *unix.Stat_t) bool) error {
	stat, err := b.Stat()
	if err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return errors.New("it is not a regular file")
	}
	b.id = identify(stat)
	head := make([]byte, 2)
	if n, err := b.file.ReadAt(head, 0); n < len(head) {
		return err
	}
	b.Script = string(head) == "#!"
	if trusted != nil && trusted(b.Path, stat) {
		b.Trusted = true
		b.Sum = fmt.Sprintf("device %d inode %d size %d modified %d", b.id.device, b.id.inode, b.id.size, b.id.modified)
		return nil
	}
	b.Sum, err = h.of(b.file, b.id)
	return err
}

// Close closes the file. A process that runs it is not affected.
func (b *Binary) Close() { _ = b.file.Close() }

// File is the open file, to be inherited by the process that runs it.
func (b *Binary) File() *os.File { return b.file }

// Stat describes the open file.
func (b *Binary) Stat() (*unix.Stat_t, error) {
	var stat unix.Stat_t
	return &stat, unix.Fstat(int(b.file.Fd()), &stat)
}

// errWritten is why a file that changes while it is being started is not run.
var errWritten = fmt.Errorf("%w: the file was written to while it was being started", fault.ErrUntrusted)

// Untouched returns an error if the file was written to since it was opened.
func (b *Binary) Untouched() error {
	stat, err := b.Stat()
	if err != nil {
		return err
	}
	now := identify(stat)
	if now.size != b.id.size || now.modified != b.id.modified {
		return errWritten
	}
	return nil
}

// Differs reports whether the path now leads to another file, or to none. A nil Binary never differs.
func (b *Binary) Differs() bool {
	if b == nil || b.Attached {
		return false
	}
	var stat unix.Stat_t
	if unix.Stat(b.Path, &stat) != nil {
		return true
	}
	now := identify(&stat)
	now.changed = b.id.changed // hard links and permissions change it too
	return now != b.id
}

// Hashes remembers the hashes of files: a plugin is started more often than it changes. The zero value is ready to use.
type Hashes struct {
	mu    sync.Mutex
	known map[identity]string
}

// OfFile returns the SHA-256 of the file at path in hexadecimal, "" if it is no regular file that can be read.
func (h *Hashes) OfFile(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	b, err := Open(Candidate{Path: path}, h, nil)
	if err != nil {
		return ""
	}
	defer b.Close()
	return b.Sum
}

// settled is how old a file's last change must be for its hash to be remembered. The clock of a file system is
// coarse: two changes in one of its ticks look like one.
const settled = 2 * time.Second

func (h *Hashes) of(f *os.File, id identity) (string, error) {
	h.mu.Lock()
	sum, ok := h.known[id]
	h.mu.Unlock()
	if ok {
		return sum, nil
	}
	sum, err := hash(io.NewSectionReader(f, 0, id.size))
	if err == nil && time.Since(time.Unix(0, id.changed)) > settled {
		h.mu.Lock()
		defer h.mu.Unlock()
		const most = 1000 // plugin files; a bound for a directory whose files change all the time
		if h.known == nil || len(h.known) >= most {
			h.known = make(map[identity]string)
		}
		h.known[id] = sum
	}
	return sum, err
}

func hash(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// privateCopy copies the open file into dir, which only the user may enter, and checks that the copy is what was
// hashed.
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
	if sum != b.Sum && !b.Trusted {
		return "", nil, nil, errWritten
	}
	return path, nil, func() {}, nil
}
