package plugins

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
)

// binary is a plugin's file, open: what is hashed and what is run is what stood under the path when it was opened.
type binary struct {
	candidate
	file *os.File
	id   identity
	// sum is the file's SHA-256, in hexadecimal; of a file that is trusted as the host is, what tells it from other files.
	sum string
	// trusted says that it came with the host: hashing it would take longer than starting it, and prove nothing.
	trusted bool
	// script says that it begins with #!.
	script bool
}

// identity changes whenever a file is replaced or written to: nobody but the kernel sets changed.
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

// openBinary opens a plugin's file and hashes it, unless trusted says that this is of no use; nil: it always is.
func openBinary(c candidate, h *hashes, trusted func(path string, stat *unix.Stat_t) bool) (*binary, error) {
	f, err := os.OpenFile(c.path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	b := &binary{candidate: c, file: f}
	if err := b.read(h, trusted); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return b, nil
}

func (b *binary) read(h *hashes, trusted func(path string, stat *unix.Stat_t) bool) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(b.file.Fd()), &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return errors.New("it is not a regular file")
	}
	b.id = identify(&stat)
	head := make([]byte, 2)
	if n, err := b.file.ReadAt(head, 0); n < len(head) {
		return err
	}
	b.script = string(head) == "#!"
	if trusted != nil && trusted(b.path, &stat) {
		b.trusted = true
		b.sum = fmt.Sprintf("device %d inode %d size %d modified %d", b.id.device, b.id.inode, b.id.size, b.id.modified)
		return nil
	}
	var err error
	b.sum, err = h.of(b.file, b.id)
	return err
}

// close closes the file. The process that runs it does not mind.
func (b *binary) close() { _ = b.file.Close() }

// untouched returns an error if the file was written to since it was opened.
func (b *binary) untouched() error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(b.file.Fd()), &stat); err != nil {
		return err
	}
	now := identify(&stat)
	if now.size != b.id.size || now.modified != b.id.modified {
		return fmt.Errorf("%w: the file was written to while it was being started", ErrUntrusted)
	}
	return nil
}

// differs reports whether the path leads to another file by now, or to none. A nil binary never does.
func (b *binary) differs() bool {
	if b == nil || b.attached {
		return false
	}
	var stat unix.Stat_t
	if unix.Stat(b.path, &stat) != nil {
		return true
	}
	now := identify(&stat)
	now.changed = b.id.changed // it moves with links and permissions too
	return now != b.id
}

// hashes remembers the hashes of files: a plugin is started more often than it changes.
type hashes struct {
	mu    sync.Mutex
	known map[identity]string
}

// settled is how old a file's last change must be for its hash to be remembered. The clock of a file system is coarse: two
// changes in one of its ticks look like one.
const settled = 2 * time.Second

func (h *hashes) of(f *os.File, id identity) (string, error) {
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

// privateCopy copies the open file to a directory that nobody else can write to, and checks that it is what was hashed.
func (b *binary) privateCopy(dir string) (path string, inherit []*os.File, done func(), err error) {
	path = filepath.Join(dir, filepath.Base(b.path))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o700)
	if err != nil {
		return "", nil, nil, err
	}
	sum, err := hash(io.TeeReader(io.NewSectionReader(b.file, 0, b.id.size), f))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", nil, nil, err
	}
	if sum != b.sum && !b.trusted {
		return "", nil, nil, fmt.Errorf("%w: the file was written to while it was being started", ErrUntrusted)
	}
	return path, nil, func() {}, nil
}
