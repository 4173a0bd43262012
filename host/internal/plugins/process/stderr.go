package process

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	safe "github.com/thresh-dev/thresh/internal/text"
)

const (
	// tailBytes is how much of a process's standard error is kept for errors.
	tailBytes = 8 << 10
	// maxLogLine is where a line of a plugin's output is cut in the log, in bytes. The rest of the line is dropped.
	maxLogLine = 64 << 10
)

// tail keeps the last [tailBytes] bytes written to it. mu guards buf: run's goroutine writes while errors read.
type tail struct {
	mu  sync.Mutex
	buf []byte // at most 2*tailBytes, so that each byte moves at most once
}

// Write never fails: a failing writer would stop the TeeReader, and with it the draining.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	p = p[max(0, len(p)-tailBytes):]
	if len(t.buf)+len(p) > 2*tailBytes {
		t.buf = append(t.buf[:0], t.buf[max(0, len(t.buf)-tailBytes):]...)
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// String returns the last bytes as valid UTF-8; the cut may be within a character.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.buf[max(0, len(t.buf)-tailBytes):]), "�")
}

// eachLine calls f with each line of r, cut at limit bytes, until r ends. The rest of a cut line is read and dropped: a
// full pipe would block the plugin. line is valid only during the call.
func eachLine(r io.Reader, limit int, f func(line []byte)) {
	br := bufio.NewReaderSize(r, limit)
	rest := false // in the part of a line that was cut off
	for {
		line, err := br.ReadSlice('\n')
		if !rest && len(line) > 0 {
			f(trimEOL(line))
		}
		rest = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !rest {
			return
		}
	}
}

// trimEOL removes one line end, of Unix or Windows.
func trimEOL(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// lineLogger writes a plugin's standard error to the log. A line in hclog's JSON form keeps its level and fields; all
// others are debug lines, except the first line of a Go panic.
//
// go-plugin has code for this too, but it panics in the host when a plugin sends a field of an unexpected type.
type lineLogger struct {
	log hclog.Logger
}

// line logs one line.
func (l *lineLogger) line(line []byte) {
	if len(line) == 0 {
		return
	}
	if line[0] == '{' && l.structured(line) {
		return
	}
	text := strings.ToValidUTF8(string(line), "�")
	if fault.IsPanic(text) {
		l.log.Error(text) // the rest is in the error of the call that this ends
		return
	}
	l.log.Debug(text)
}

// structured logs a line in hclog's JSON form; false if it is not one. Fields are sorted, so that log lines are stable.
// Names that begin with "@" are hclog's own.
func (l *lineLogger) structured(line []byte) bool {
	var fields map[string]any
	if json.Unmarshal(line, &fields) != nil {
		return false
	}
	message, isText := fields["@message"].(string)
	word, _ := fields["@level"].(string)
	level := hclog.LevelFromString(word)
	if !isText || level == hclog.NoLevel || level == hclog.Off {
		return false
	}
	if level < l.log.GetLevel() {
		return true
	}
	var args []any
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !strings.HasPrefix(key, "@") {
			args = append(args, key, fields[key])
		}
	}
	l.log.Log(level, message, args...)
	return true
}

// stdioLogger logs what a plugin prints through go-plugin's stream, which takes over its standard output after the
// handshake.
type stdioLogger struct{ log hclog.Logger }

// Write logs p as it comes, which may be part of a line.
func (l *stdioLogger) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		l.log.Debug(safe.Printable(strings.TrimRight(line, "\r\n"), maxLogLine))
	}
	return len(p), nil
}
