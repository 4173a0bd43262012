package transcriptlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/internal/failure"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Log is one session's file. It is safe for concurrent use. A nil Log writes nothing and never fails.
//
// The session flushes after each addition, so acknowledged entries survive a crash of the program, and before a
// strategy rewrites the history, so the file has the original of everything rewritten.
type Log struct {
	path string

	mu sync.Mutex
	// nil after Close
	file    *os.File
	pending []byte // whole lines not yet in the file
	waiting int    // number of entries in pending
	system  string // the line of the system prompt; "" if none was set
}

// ErrDir: no file can be created in the directory.
var ErrDir = failure.Passing(failure.Host, "transcript.dir")

// UnwrittenError says that a [Log] has entries that its file does not. The next successful [Log.Flush] writes them.
type UnwrittenError struct {
	Path string
	// Entries is the number of missing entries; 0 if only the system prompt is missing.
	Entries int
	Err     error
}

func (e *UnwrittenError) Error() string {
	cause := e.Err
	if at := (*fs.PathError)(nil); errors.As(cause, &at) {
		cause = at.Err // it would name the file a second time
	}
	what := fmt.Sprintf("%d of the entries added are", e.Entries)
	if e.Entries == 0 {
		what = "the system prompt is"
	}
	return fmt.Sprintf("%s not in the transcript %s: %v", what, e.Path, cause)
}

func (e *UnwrittenError) Unwrap() error { return e.Err }

func (e *UnwrittenError) Describe() failure.Description {
	return failure.Description{Kind: failure.Host, Retryable: true}
}

// Open creates a session's file in dir, which is created if needed. The file is named after the session's id, with
// characters replaced that do not belong in a file name, and a number if the name is taken. Only the user may read the
// file. Errors wrap [ErrDir].
func Open(dir, session string) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDir, err)
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
			return nil, fmt.Errorf("%w: %w", ErrDir, err)
		}
	}
}

// maxName bounds a file's name, in bytes: file systems allow 255.
const maxName = 200

// safeName turns a session id, chosen by a client, into a file name that neither leaves the directory nor is hidden.
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

// Add buffers an entry for the next [Log.Flush].
func (l *Log) Add(id string, entry content.Content) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(AppendEntry(l.pending, id, entry), '\n')
	l.waiting++
}

// SetSystem buffers the system prompt if it changed. Readers use the last one.
func (l *Log) SetSystem(blocks []content.Block) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if line := string(AppendSystem(nil, blocks)); line != l.system && (l.system != "" || len(blocks) > 0) {
		l.system = line
		l.pending = append(append(l.pending, line...), '\n')
	}
}

// Flush writes what was added. It does not sync: entries survive a crash of the program, not of the machine. After an
// error, an [*UnwrittenError], the file ends with a whole line and what was not written stays buffered.
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
		return &UnwrittenError{l.path, l.waiting, os.ErrClosed}
	}
	n, err := l.file.Write(l.pending)
	if err == nil {
		l.pending, l.waiting = nil, 0
		return nil
	}
	if cut := l.cutBack(n); cut != nil {
		err = errors.Join(err, cut)
	}
	return &UnwrittenError{l.path, l.waiting, err}
}

// cutBack removes the first n bytes of pending, left by a failed write, from the file: Flush would write them twice.
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

// Close flushes and closes the file. If the flush fails, the file stays open and Close can be tried again. Entries
// added after a successful Close are never written.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	if err := l.flush(); err != nil {
		return err
	}
	err := l.file.Close()
	l.file = nil
	if err != nil { // some file systems report only now that they had no room
		return fmt.Errorf("close the transcript: %w", err)
	}
	return nil
}
