package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// source returns the lines of a file and where each begins, for errors. Lines end at a line feed only: JSON strings may
// contain U+2028 and other characters at which some line readers split. Only the file's size is limited, not a line's:
// one tool result can be many megabytes.
type source struct {
	r      *bufio.Reader
	max    int64
	size   int64 // of the file; 0 if unknown
	line   int   // number of the last line, from 1
	offset int64 // of the last line
	end    int64 // how many bytes were read
	buf    []byte
	// again and whole let the caller look at a line twice: first as a document, then as a record.
	again bool // next returns the same line once more
	whole bool // the last line had an end
	// before is how many lines of text are before the first record.
	before int
}

func newSource(r io.Reader, limit int64) *source {
	return &source{r: bufio.NewReaderSize(Plain(r), 64<<10), max: limit}
}

// Plain returns what is in a recording that may be compressed with zstd, as Codex does after some days.
func Plain(r io.Reader) io.Reader {
	const maxWindow = 128 << 20 // that of "zstd --long": a small file must not make a larger allocation
	b := bufio.NewReader(r)
	if head, _ := b.Peek(4); string(head) != "\x28\xb5\x2f\xfd" {
		return b
	}
	z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil { // only options make one
		return b
	}
	return z
}

// head checks that the file looks like JSON and skips a byte order mark. It only peeks at the first 4 KiB: a file named
// by mistake is refused at once, however large it is.
func (s *source) head() error {
	const most = 4096
	head, err := s.r.Peek(most)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	blankSoFar := len(head) == most // blank, but the file continues
	if bom := []byte("\xef\xbb\xbf"); bytes.HasPrefix(head, bom) {
		head = head[len(bom):]
		s.end += int64(len(bom))
		if _, err := s.r.Discard(len(bom)); err != nil {
			return err
		}
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case len(text) == 0 && !blankSoFar:
		return fail(ErrEmpty, "the file contains no transcript")
	// [read] finds the first line that is not blank, or that there is none.
	case len(text) == 0:
		return nil
	case text[0] == '{' || text[0] == '[':
		// JSON that is broken here already is refused without reading the rest.
		if _, err := rawjson.New(head).Skip(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return locate(err, head, 1, s.end)
		}
		return nil
	// From the certain to the likely: the message fits what the file is.
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return fail(ErrBinary, "it is compressed with gzip; give what 'gunzip -c' prints, with '-' for FILE")
	case bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		return fail(ErrBinary, "it is an SQLite database, which can be read from its own file only")
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return fail(ErrBinary, "it is UTF-16; give what 'iconv -f UTF-16 -t UTF-8' makes of it")
	case bytes.IndexByte(head, 0) >= 0:
		return fail(ErrBinary, "it contains NUL bytes; a transcript is JSON text in UTF-8")
	case !utf8.Valid(head[:len(head)-incomplete(head)]):
		return fail(ErrBinary, "it is not UTF-8; a transcript is JSON text in UTF-8")
	case s.said(head):
		return nil
	default:
		return fail(ErrUnknownFormat, "it begins with %q, which is not a JSON list or object; supported: %s",
			ordered.Clip(text), formatNames(false))
	}
}

// said skips what an agent said before its first record, such as that it found credentials, in a file of what it printed:
// lines of text before one that is a whole object. It reports whether there is such a line.
func (s *source) said(head []byte) bool {
	text := 0
	for rest := head; ; {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		if !whole {
			return false
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] == '{' && checkJSON(line) == nil {
			break
		}
		text += len(rest) - len(after)
		rest = after
	}
	n, _ := s.r.Discard(text) // it was peeked at
	s.end += int64(n)
	s.line = bytes.Count(head[:text], []byte{'\n'})
	s.before = s.line
	return true
}

// incomplete returns how many bytes at the end of head belong to a character that the end of the buffer cut in two,
// which is not invalid UTF-8.
func incomplete(head []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(head)); n++ {
		if c := head[len(head)-n]; utf8.RuneStart(c) {
			if utf8.FullRune(head[len(head)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// next returns the next line that is not blank, without its line end, and whether a line end followed. The bytes are
// valid until the next call. It returns io.EOF at the end of the file.
func (s *source) next() (line []byte, complete bool, err error) {
	if s.again {
		s.again = false
		return s.buf, s.whole, nil
	}
	for {
		s.line++
		s.offset = s.end
		s.buf = s.buf[:0]
		complete, err := s.fill()
		if err != nil {
			return nil, false, err
		}
		s.whole = complete
		if len(bytes.TrimSpace(s.buf)) > 0 {
			return s.buf, complete, nil
		}
		if !complete {
			return nil, false, io.EOF
		}
	}
}

// rest appends the remainder of the file to the last line, and returns both: the file is one JSON value over several
// lines.
func (s *source) rest() ([]byte, error) {
	// One allocation, for files of tens of megabytes. A size over the limit is not allocated; fill refuses the file.
	if more := s.size - s.end; more > 0 && s.size <= s.max {
		s.buf = slices.Grow(s.buf, int(more)+1)
	}
	for {
		s.buf = append(s.buf, '\n')
		complete, err := s.fill()
		if err != nil || !complete {
			return s.buf, err
		}
	}
}

// fill appends one line to s.buf, without its end. complete is false if the file ended first.
func (s *source) fill() (complete bool, err error) {
	for {
		part, err := s.r.ReadSlice('\n')
		s.end += int64(len(part))
		// Counted while reading, as the size of a pipe is not known before.
		if s.end > s.max {
			return false, fail(ErrTooLarge, "it is larger than the limit of %d bytes", s.max)
		}
		s.buf = append(s.buf, part...)
		switch {
		case err == nil:
			s.buf = s.buf[:len(s.buf)-1]
			return true, nil
		case errors.Is(err, io.EOF):
			return false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
	}
}
