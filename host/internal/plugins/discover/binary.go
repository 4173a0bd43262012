package discover

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
)

// Binary is a plugin's file, held open: the file that is hashed is the file that runs, even if another takes its path
// between the check and the start. Close it.
type Binary struct {
	Candidate
	// Sum is the file's SHA-256 in hexadecimal. A built-in strategy has a text that tells the host's program from other
	// files: hashing that takes longer than starting it, and would prove nothing.
	Sum    string
	Script bool

	file *os.File
	id   identity
}

// identity changes whenever a file is replaced or written to. A program can set the modification time, but only the
// kernel sets the time of the last change.
type identity struct {
	device, inode     uint64
	size              int64
	modified, changed int64 // ns since 1970
}

// Open opens a plugin's file and hashes it. The file is looked at first, because opening a device can do something, and
// opened without blocking, because a named pipe that has taken its place would wait for a writer.
func Open(c Candidate, h *Hashes) (*Binary, error) {
	path := c.Path
	if c.BuiltIn {
		path = running(path)
	}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := openToRun(path)
	if err != nil {
		return nil, err
	}
	b := &Binary{Candidate: c, file: f}
	if err := b.read(h); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return b, nil
}

var errNotRegular = errors.New("it is not a regular file")

// Socket returns the Binary of a candidate that a developer started by hand: there is no file.
func Socket(c Candidate) *Binary { return &Binary{Candidate: c} }

// read fills in what is known about the open file. A file of fewer than two bytes is an error.
func (b *Binary) read(h *Hashes) error {
	info, err := b.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errNotRegular
	}
	if info.Size() > maxFile {
		return errors.New("it " + tooLarge(info.Size()))
	}
	if b.id, err = identify(b.file); err != nil {
		return err
	}
	head := make([]byte, 2)
	if n, err := b.file.ReadAt(head, 0); n < len(head) {
		return err
	}
	b.Script = string(head) == "#!"
	if b.BuiltIn {
		b.Sum = fmt.Sprintf("device %d inode %d size %d modified %d", b.id.device, b.id.inode, b.id.size, b.id.modified)
		return nil
	}
	b.Sum, err = h.of(b.file, b.id)
	return err
}

// Close does not affect a process that runs the file.
func (b *Binary) Close() { _ = b.file.Close() }

func (b *Binary) File() *os.File { return b.file }

// Arg0 is the name that its process is started under, by which the host's program knows which strategy to be.
func (b *Binary) Arg0() string {
	if b.BuiltIn {
		return FileName(b.Name)
	}
	return b.Path
}

var errWritten = fmt.Errorf("%w: the file was written to while it was being started", fault.ErrUntrusted)

// Untouched returns an error if the file was written to since it was opened. The time of the last change is ignored: a
// hard link or chmod changes it as well.
func (b *Binary) Untouched() error {
	now, err := identify(b.file)
	if err != nil {
		return err
	}
	if now.size != b.id.size || now.modified != b.id.modified {
		return errWritten
	}
	return nil
}

// Differs reports whether the path now leads to another file, or to none. A nil Binary never differs, nor does a
// built-in one.
func (b *Binary) Differs() bool {
	if b == nil || b.Attached || b.BuiltIn {
		return false
	}
	now, err := identifyPath(b.Path)
	if err != nil {
		return true
	}
	now.changed = b.id.changed // hard links and permissions change it too
	return now != b.id
}

// Hashes remembers the hashes of files: a plugin is started more often than it changes. The zero value is ready to use.
// It is safe for concurrent use.
type Hashes struct {
	mu    sync.Mutex
	known map[identity]string
}

// OfFile returns the SHA-256 of a plugin's file in hexadecimal; "" if the file cannot be a plugin.
func (h *Hashes) OfFile(path string) string {
	b, err := Open(Candidate{Path: path}, h)
	if err != nil {
		return ""
	}
	defer b.Close()
	return b.Sum
}

// settled is how old a file's last change must be for its hash to be remembered: two changes within one tick of a
// coarse file system clock look like one.
const settled = 2 * time.Second

// of returns the hash of an open file. Two callers may hash the same file at once; that is harmless.
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
		const most = 1000 // a bound for a directory whose files keep changing
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
