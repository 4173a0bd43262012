package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// The reasons for which a file cannot be read. Every [*Error] wraps one of them.
var (
	// The file has no transcript: only white space, or bookkeeping without messages.
	ErrEmpty = errors.New("empty file")
	// NUL bytes, which no text has: an image or an archive by mistake.
	ErrBinary = errors.New("binary file")
	// Readers never try the files inside it: the user must say which one is meant.
	ErrDirectory = errors.New("is a directory")
	// Above [Options.MaxBytes].
	ErrTooLarge = errors.New("file too large")
	ErrSyntax   = errors.New("broken JSON")
	// The JSON ends too early: the recorder is still writing, or the copy was cut.
	ErrTruncated = errors.New("truncated file")
	// Valid JSON in which no reader sees its own format.
	ErrUnknownFormat = errors.New("unknown format")
	// A recognised format that cannot be read; the detail says what to do.
	ErrUnsupportedFormat = errors.New("unsupported format")
	ErrMalformed         = errors.New("malformed transcript")
)

// Error says why a transcript cannot be read, and where. errors.Is finds its Reason.
type Error struct {
	// Path of the file; "" when a reader was given.
	Path string
	// Line counts from 1; 0 if the error concerns the file as a whole.
	Line int
	// Offset is the byte in the file, counted from 0; -1 if the error concerns no single byte.
	Offset int64
	// Entry is the position of the entry, counted from 0; -1 if the error concerns no entry.
	Entry  int
	Reason error
	// Detail says what was found and what to do.
	Detail string
}

// Error returns "path: line n (byte b), entry e: reason: detail", without unknown parts, on one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d", e.Line)
		if e.Offset >= 0 {
			fmt.Fprintf(&b, " (byte %d)", e.Offset)
		}
		if e.Entry >= 0 {
			fmt.Fprintf(&b, ", entry %d", e.Entry)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Reason.Error())
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Reason }

func fail(reason error, format string, args ...any) error {
	return &Error{Offset: -1, Entry: -1, Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

func failAt(line int, reason error, format string, args ...any) error {
	return &Error{Line: line, Offset: -1, Entry: -1, Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

func failEntry(line, entry int, detail string) error {
	return &Error{Line: line, Offset: -1, Entry: entry, Reason: ErrMalformed, Detail: detail}
}

// noObject is the error for an element of a list of messages.
func noObject(line, entry int, raw []byte) error {
	return failEntry(line, entry, "message is "+ordered.Clip(raw)+", not an object")
}

// locate turns an error of rawjson into an Error. text begins at the given line and byte of the file. Text that ends
// too early is [ErrTruncated], because the remedy differs.
func locate(err error, text []byte, line int, offset int64) error {
	var syntax *rawjson.SyntaxError
	if !errors.As(err, &syntax) {
		return failAt(line, ErrMalformed, "%v", err)
	}
	reason := ErrSyntax
	if errors.Is(err, io.ErrUnexpectedEOF) {
		reason = ErrTruncated
	}
	return &Error{
		Line:   line + bytes.Count(text[:syntax.Offset], []byte{'\n'}),
		Offset: offset + int64(syntax.Offset),
		Entry:  -1,
		Reason: reason,
		Detail: syntax.Message,
	}
}
