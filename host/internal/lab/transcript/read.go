package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// DefaultMaxBytes is the largest file that is read unless [Options] set another limit: 1 GiB. It is far above real
// sessions (tens of megabytes) and keeps a file named by mistake from exhausting the memory.
const DefaultMaxBytes = 1 << 30

// Options change how a transcript is read. The zero value is right for finished files.
type Options struct {
	// MaxBytes is the largest file to be read, in bytes; 0 is [DefaultMaxBytes]. Formats of one record a line are read
	// line by line; the others are held in memory.
	MaxBytes int64
	// AllowCut accepts a file that ends too early, because it is still being written or was cut: it is read to its last
	// whole record, with a note. Without it such a file is an error.
	AllowCut bool
	// From is the format to read, for a file that is not what it looks like; "": it is detected.
	From Format
}

// ReadFile reads the transcript in a file. See [Read]. Errors name the path.
func ReadFile(path string, o Options) (*Transcript, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read a session: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read a session: %w", err)
	}
	// Opening a directory succeeds; reading it would fail with an unhelpful message.
	if info.IsDir() {
		return nil, &Error{
			Path: path, Offset: -1, Entry: -1, Reason: ErrDirectory, Detail: "name a transcript file inside it",
		}
	}
	if limit := o.limit(); info.Size() > limit {
		return nil, &Error{Path: path, Offset: -1, Entry: -1, Reason: ErrTooLarge,
			Detail: fmt.Sprintf("it is %d bytes long, the limit is %d", info.Size(), limit)}
	}
	s := newSource(f, o.limit())
	s.size = info.Size() // less than the whole if it is compressed
	t, err := read(s, o)
	if e, ok := errors.AsType[*Error](err); ok {
		if errors.Is(err, ErrUnknownFormat) {
			if names := nearest(f, info.Size(), o); names != "" {
				e.Detail += "; nearest: " + names
			}
		}
		e.Path = path
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Read reads a transcript in any of the [Formats], which it detects from the content. Problems of the content are an
// [*Error]; other errors are r's.
func Read(r io.Reader, o Options) (*Transcript, error) {
	return read(newSource(r, o.limit()), o)
}

// read decides by the first line what kind of file it is. If this line is complete JSON and another line follows, the
// file is read line by line. Otherwise it is one JSON value, which is held in memory.
func read(s *source, o Options) (*Transcript, error) {
	if err := s.head(); err != nil {
		return nil, err
	}
	first, complete, err := s.next()
	if errors.Is(err, io.EOF) {
		return nil, fail(ErrEmpty, "the file contains no transcript; a transcript log that was just begun is empty "+
			"until something is added")
	}
	if err != nil {
		return nil, err
	}
	line, offset := s.line, s.offset
	switch err := checkJSON(first); {
	case err == nil:
		first = bytes.Clone(first)
	// The value continues in the next line: a document that was printed with indentation.
	case complete && errors.Is(err, io.ErrUnexpectedEOF):
		all, err := s.rest()
		if err != nil {
			return nil, err
		}
		return readDocument(all, o, line, offset)
	case !complete && o.AllowCut && errors.Is(err, io.ErrUnexpectedEOF):
		return readDocument(first, o, line, offset)
	case ordered.Kind(first) == '{' && several(first, err):
		return readLines(s, o, bytes.Clone(first), line, offset)
	default:
		return nil, locate(err, first, line, offset)
	}
	switch _, _, err := s.next(); {
	case errors.Is(err, io.EOF):
		return readDocument(first, o, line, offset)
	case err != nil:
		return nil, err
	case ordered.Kind(first) != '{':
		return nil, failAt(s.line, ErrMalformed, "something follows the list that ended on line %d", line)
	}
	s.again = true
	return readLines(s, o, first, line, offset)
}

func (o Options) limit() int64 {
	if o.MaxBytes > 0 {
		return o.MaxBytes
	}
	return DefaultMaxBytes
}

func several(line []byte, err error) bool {
	_, rest := records(line, err)
	return len(rest) > 0
}

func checkJSON(data []byte) error {
	s := rawjson.New(data)
	if _, err := s.Skip(); err != nil {
		return err
	}
	return s.Rest()
}

func readDocument(data []byte, o Options, line int, offset int64) (*Transcript, error) {
	b := newBuilder()
	if !utf8.Valid(data) { // recorders copy the output of commands, which may be cut within a character
		data = bytes.ToValidUTF8(data, []byte("\ufffd"))
		b.note(line, -1, "bytes that are not UTF-8 were replaced by U+FFFD")
	}
	if err := checkJSON(data); err != nil {
		whole := []byte(nil)
		if o.AllowCut && errors.Is(err, io.ErrUnexpectedEOF) {
			whole = uncut(data)
		}
		if whole == nil {
			return nil, locate(err, data, line, offset)
		}
		data = whole
		b.note(0, -1, "the file is cut off and was read to its last whole record")
	}
	b.size = len(data)
	d := newDocument(data, line, offset)
	read, err := sniffDocument(d)
	if o.From != "" {
		read, err = o.From.document()
	}
	if err != nil {
		return nil, err
	}
	if err := read(b, d); err != nil {
		return nil, err
	}
	return b.finish(o)
}
