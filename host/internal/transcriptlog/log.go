package transcriptlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Log is one session's file. It is safe for concurrent use. A nil Log writes nothing and never fails.
//
// Entries are buffered by [Log.Add] and reach the file with [Log.Flush]: the session flushes before a strategy
// rewrites the history, so that nothing is rewritten of which the file does not hold the original.
type Log struct {
	path string

	mu sync.Mutex
	// nil after Close.
	file    *os.File
	pending []byte // whole lines that are not in the file yet
}

// Open creates the file of a session in dir, which is created if it does not exist. The file is named after the
// session's id. Characters that do not belong in a file name are replaced, and a number is appended if the name is
// taken. Only the user may read the file. Errors name the setting transcript.dir.
func Open(dir, session string) (*Log, error) {
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
			return &Log{path: path, file: f}, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, fmt.Errorf("transcript.dir: %w", err)
		}
	}
}

// maxName bounds a file's name, in bytes: file systems allow 255.
const maxName = 200

// safeName turns a session id, which a client may choose freely, into a file name: it never leaves the directory and is
// never hidden.
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
	return name[:min(len(name), maxName)]
}

// Path returns the path of the file; "" for a nil Log.
func (l *Log) Path() string {
	if l == nil {
		return ""
	}
	return l.path
}

// Add buffers entries and their ids, one for each. They are in the file after the next [Log.Flush].
func (l *Log) Add(ids []string, entries []content.Content) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, c := range entries {
		l.pending = append(AppendEntry(l.pending, ids[i], c), '\n')
	}
}

// Flush writes what was added to the file. It does not sync: the entries survive a crash of the program, not of the
// machine. After an error, the file ends with a whole line and everything that was not written stays buffered for the
// next Flush.
func (l *Log) Flush() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flush()
}

// flush writes pending; the caller holds mu.
func (l *Log) flush() error {
	if len(l.pending) == 0 {
		return nil
	}
	if l.file == nil {
		return fmt.Errorf("transcript %s: %w", l.path, os.ErrClosed)
	}
	n, err := l.file.Write(l.pending)
	if err == nil {
		l.pending = nil
		return nil
	}
	if cut := l.cutBack(n); cut != nil {
		err = errors.Join(err, cut)
	}
	return fmt.Errorf("write the transcript (nothing was lost; make room or change transcript.dir): %w", err)
}

// cutBack removes the first n bytes of pending from the file, where a failed write left them. The next Flush would
// otherwise write them twice.
func (l *Log) cutBack(n int) error {
	if n == 0 {
		return nil
	}
	end, err := l.file.Seek(int64(-n), 1)
	if err != nil {
		return err
	}
	return l.file.Truncate(end)
}

// Close flushes and closes the file. Entries added later are never written.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.flush(), l.file.Close())
	l.file = nil
	return err
}
