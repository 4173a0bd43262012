package transcriptlog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/thresh-dev/thresh/sdk/content"
)

// maxRecord bounds a line, in bytes, as 'thresh run' does. Longer ones are skipped.
const maxRecord = 256 << 20

// Find returns what was added under an id, from a [Log]'s file: the entry with that id, or else the entries with the
// tool call of that id and its responses; nil if nothing has the id.
//
// A last line without a line end is left out, as the host may be writing it. Lines that cannot be read, after a crash
// of the machine for example, are skipped, and unread counts them. The error is also ctx's.
func Find(ctx context.Context, path, id string) (found []content.Content, unread int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("read the transcript: %w", err)
	}
	defer f.Close()
	return find(ctx, f, id, maxRecord)
}

func find(ctx context.Context, in io.Reader, id string, longest int) (found []content.Content, unread int, err error) {
	r := bufio.NewReaderSize(in, 64<<10)
	quoted := content.String(id) // how the line of a call with this id has it
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
		// Lines can be megabytes, and almost none has the id.
		mayHold := own == id || bytes.Contains(raw, quoted)
		if !mayHold { // not decoded
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
			// Ids of entries are unique.
			return []content.Content{c}, unread, nil
		// The id may also be in a text, which does not make the entry part of the call.
		case Holds(c, id):
			found = append(found, c)
		}
	}
}

var errTooLong = errors.New("line too long")

// record reads one whole line. The error is io.EOF after the last one, errTooLong for a skipped one.
func record(r *bufio.Reader, longest int) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		// Dropped at once: the bound also holds for memory.
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
