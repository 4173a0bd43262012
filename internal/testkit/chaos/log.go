package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
)

// logReader reads a session's transcript log while it grows. The log is also the only place where an agent learns the
// ids that outcomes use. It reads the file as another program would, without the host's code.
type logReader struct {
	dir, session string
	consumed     int64    // bytes that were read so far
	ids          []string // by number: the id that the host gave the entry
}

// id returns the id that the host gave an entry; "" if it is not in the log.
func (l *logReader) id(mark int) string {
	if mark < 1 || mark > len(l.ids) {
		return ""
	}
	return l.ids[mark-1]
}

// read reads what was added to the log. It must have the entries that were said, all, in their order, and as they were
// sent.
func (l *logReader) read(said []entry) error {
	f, err := l.open()
	if err != nil {
		return err
	}
	defer f.Close()
	// Opened again each time, in case the host replaces the file.
	if _, err := f.Seek(l.consumed, io.SeekStart); err != nil {
		return err
	}
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		// What follows the last line break is a line that is being written, and is read the next time.
		if errors.Is(err, io.EOF) {
			break // a line without an end is not written yet, and is read again next time
		}
		if err != nil {
			return err
		}
		l.consumed += int64(len(line))
		var logged struct {
			ThreshID string
			entry
		}
		if err := json.Unmarshal(line, &logged); err != nil {
			return fmt.Errorf("the transcript log: %w", err)
		}
		// One agent adds to a session, one request after the other, so the order is known.
		at := len(l.ids)
		// In the order of the additions and without a change: the log is the conversation as it was.
		if at >= len(said) || !reflect.DeepEqual(logged.entry, said[at]) {
			return fmt.Errorf("the transcript log has another entry as number %d", at+1)
		}
		l.ids = append(l.ids, logged.ThreshID)
	}
	if len(l.ids) < len(said) {
		return fmt.Errorf("%d entries were acknowledged, %d are in the transcript log", len(said), len(l.ids))
	}
	return nil
}

// open opens the one file of the session.
func (l *logReader) open() (*os.File, error) {
	// The host chooses the name, and must put the session's id into it.
	found, err := filepath.Glob(filepath.Join(l.dir, "*"+l.session+"*"))
	if err != nil || len(found) != 1 {
		return nil, fmt.Errorf("the transcript logs of session %s are %q (%w)", l.session, found, err)
	}
	return os.Open(found[0])
}
