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
// Entries are buffered by [Log.Add] and reach the file with [Log.Flush]. The session flushes after each addition, so
// that acknowledged entries survive a crash of the program, and before a strategy rewrites the history, so that
// nothing is rewritten of which the file does not hold the original.
type Log struct {
	path string

	mu sync.Mutex
	// nil after Close.
	file    *os.File
	pending []byte // whole lines that are not in the file yet
	waiting int    // how many entries pending holds
	system  string // the line of the system prompt; "" if none was ever set
}

// ErrDir: no file can be made in the directory.
var ErrDir = errors.New("transcript.dir")

// UnwrittenError says that a [Log] holds entries that its file does not. They are written by the next [Log.Flush] or
// [Log.Close] that succeeds.
type UnwrittenError struct {
	Path string
	// Entries is how many entries are not in the file; 0 if only the system prompt is not.
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

// Unwrap returns the error of the file system.
func (e *UnwrittenError) Unwrap() error { return e.Err }

// Open creates the file of a session in dir, which is created if it does not exist. The file is named after the
// session's id. Characters that do not belong in a file name are replaced, and a number is appended if the name is
// taken. Only the user may read the file. Errors wrap [ErrDir].
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

// Add buffers an entry with its id. It is in the file after the next [Log.Flush].
func (l *Log) Add(id string, entry content.Content) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(AppendEntry(l.pending, id, entry), '\n')
	l.waiting++
}

// SetSystem buffers the system prompt, unless it is the one that was set before. Readers go by the last one.
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

// Flush writes what was added to the file. It does not sync: the entries survive a crash of the program, not of the
// machine. After an error, which is an [*UnwrittenError], the file ends with a whole line and everything that was not
// written stays buffered for the next Flush.
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

// Close flushes and closes the file. If the flush fails, the file stays open, so that Close can be tried again when
// there is room. Once Close has succeeded, it does nothing, and entries added later are never written.
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
