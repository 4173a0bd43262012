package transcriptlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/transcript"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Journal is one session's file. It is safe for concurrent use. A nil Journal keeps nothing and never fails.
type Journal struct {
	path string

	mu      sync.Mutex
	file    *os.File
	pending []byte // lines that are not in the file yet
}

// Open makes the file of a session in dir, which is made if it is not there. The name is the session's id; where that is
// taken, or holds what a file name should not, it is changed until it fits. The file is private to the user.
func Open(dir, session string) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("transcript.dir: %w", err)
	}
	name := safeName(session)
	for n := 1; ; n++ {
		path := filepath.Join(dir, name+".jsonl")
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d.jsonl", name, n))
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case err == nil:
			return &Journal{path: path, file: f}, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, fmt.Errorf("transcript.dir: %w", err)
		}
	}
}

// mostName bounds a file's name, in bytes: file systems allow 255.
const mostName = 200

func safeName(session string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		default:
			return '_'
		}
	}, session)
	name = strings.TrimLeft(name, ".")
	if name == "" {
		name = "session"
	}
	return name[:min(len(name), mostName)]
}

// Path is the file; "" for a nil Journal.
func (j *Journal) Path() string {
	if j == nil {
		return ""
	}
	return j.path
}

// Add takes entries and their ids, one for each. They are in the file after the next Flush.
func (j *Journal) Add(ids []string, entries []content.Content) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, c := range entries {
		j.pending = append(transcript.AppendEntry(j.pending, ids[i], c), '\n')
	}
}

// Flush writes what was added to the file, and hands it to the operating system. After an error everything that was not
// written is kept for the next Flush, and the file ends with a whole line.
func (j *Journal) Flush() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.flush()
}

func (j *Journal) flush() error {
	if len(j.pending) == 0 {
		return nil
	}
	if j.file == nil {
		return fmt.Errorf("transcript %s: %w", j.path, os.ErrClosed)
	}
	n, err := j.file.Write(j.pending)
	if err == nil {
		j.pending = nil
		return nil
	}
	if cut := j.cutBack(n); cut != nil {
		err = errors.Join(err, cut)
	}
	return fmt.Errorf("write the transcript (nothing was lost; make room or change transcript.dir): %w", err)
}

// cutBack takes the first n bytes of pending, which a failed write left in the file, out of it again.
func (j *Journal) cutBack(n int) error {
	if n == 0 {
		return nil
	}
	end, err := j.file.Seek(int64(-n), 1)
	if err != nil {
		return err
	}
	return j.file.Truncate(end)
}

// Close flushes and closes the file.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	err := errors.Join(j.flush(), j.file.Close())
	j.file = nil
	return err
}
