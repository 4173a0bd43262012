package transcriptlog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
)

// maxRecord bounds a line, in bytes: 'thresh run' takes no longer one. What is longer is skipped.
const maxRecord = 256 << 20

// Find returns what was added under an id, from the file that a [Log] writes: the entry with that id or, if there is
// none, the entries that hold the tool call with that id and its responses; nil if nothing has the id.
//
// It reads line by line and keeps only what it returns. A last line without a line end is left out, since the host may
// be writing it. Lines that cannot be read, after a crash of the machine for example, are skipped, and unread says how
// many. Reading stops with ctx.
func Find(ctx context.Context, path, id string) (found []content.Content, unread int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("read the transcript: %w", err)
	}
	defer f.Close()
	return find(ctx, f, id, maxRecord)
}

// find is Find on an open file; tests set a lower bound for lines.
func find(ctx context.Context, in io.Reader, id string, longest int) (found []content.Content, unread int, err error) {
	r := bufio.NewReaderSize(in, 64<<10)
	quoted := content.String(id) // how the line of a call with this id holds it
	for {
		if err := ctx.Err(); err != nil {
			return nil, unread, fmt.Errorf("read the transcript: %w", err)
		}
		line, err := record(r, longest)
		switch {
		case errors.Is(err, io.EOF):
			return found, unread, nil
		case errors.Is(err, errTooLong):
			unread++
			continue
		case err != nil:
			return nil, unread, fmt.Errorf("read the transcript: %w", err)
		}
		own, raw := CutID(line)
		// The text is searched before it is decoded: almost no line has the id, and lines can be megabytes.
		mayHold := own == id || bytes.Contains(raw, quoted)
		if !mayHold { // almost all lines, so they are not decoded
			if own == "" && !bytes.HasPrefix(line, []byte(systemStart)) {
				unread++
			}
			continue
		}
		var c content.Content
		switch err := c.UnmarshalJSON(raw); {
		case err != nil:
			unread++
		case own == id:
			// Ids of entries are unique, so that nothing behind it can have the same one.
			return []content.Content{c}, unread, nil
		// The id may also stand in a text, which makes the entry no part of the call.
		case slices.Contains(calls(c), id):
			found = append(found, c)
		}
	}
}

// errTooLong is returned by record for a line that it skipped.
var errTooLong = errors.New("line too long")

// record reads one whole line. The error is io.EOF at the end of the last one.
func record(r *bufio.Reader, longest int) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		// What was read of it is dropped at once, so that the bound also holds for memory.
		if tooLong = tooLong || len(line)+len(part) > longest; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		case tooLong:
			return nil, errTooLong
		}
		return bytes.TrimSuffix(line, []byte{'\n'}), nil
	}
}
