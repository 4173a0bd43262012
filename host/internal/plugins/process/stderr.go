package process

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/internal/text"
)

const (
	// tailBytes is how much of a process's standard error is kept for errors.
	tailBytes = 8 << 10
	// maxLogLine is where a line of a plugin's output is cut in the log, in bytes. The rest of the line is dropped.
	maxLogLine = 64 << 10
)

// tail keeps the last [tailBytes] bytes. mu guards buf: run's goroutine writes while errors read.
type tail struct {
	mu  sync.Mutex
	buf []byte // at most 2*tailBytes, so each byte moves at most once
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

// String returns valid UTF-8; the cut may be within a character.
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

func trimEOL(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

const (
	// maxLogText and maxLogKey are where a message or value, and a key, of a plugin's log line are cut, in bytes.
	maxLogText, maxLogKey = 8 << 10, 100
	maxLogFields          = 50
)

// lineLogger writes a plugin's output to the log. A line in hclog's JSON form keeps its level and fields; all others
// are debug lines, except the first line of a Go panic. No line of a plugin can look like one of the host's, or make a
// terminal do something: messages, keys and values are made printable, each in one line.
//
// go-plugin has code for this too, but it panics in the host when a plugin sends a field of an unexpected type.
type lineLogger struct {
	log   hclog.Logger
	quota *logQuota
}

func (l *lineLogger) line(line []byte) {
	switch {
	case len(line) == 0:
		return
	case line[0] == '{':
		if !l.quota.mayParse(len(line)) || l.structured(line) {
			return
		}
	}
	if fault.IsPanic(string(line[:min(len(line), maxLogKey)])) {
		if l.quota.mayLog(len(line)) {
			l.log.Error(text.Printable(string(line), maxLogText)) // the rest is in the error of the call that this ends
		}
		return
	}
	l.plain(line)
}

func (l *lineLogger) plain(line []byte) {
	if l.log.IsDebug() && l.quota.mayLog(len(line)) {
		l.log.Debug(text.Printable(string(line), maxLogText))
	}
}

// structured logs a line in hclog's JSON form; false if it is not one. Sorted fields keep log lines stable. Names that
// begin with "@" are hclog's own.
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
	// A line below the log's level was understood: it must not be logged as plain text instead.
	if level < l.log.GetLevel() || !l.quota.mayLog(len(line)) {
		return true
	}
	var args []any
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !strings.HasPrefix(key, "@") && len(args) < 2*maxLogFields {
			args = append(args, printableKey(key), printableValue(fields[key]))
		}
	}
	l.log.Log(level, text.Printable(message, maxLogText), args...)
	return true
}

// printableKey removes what would make a key look like several fields. The host's own field names remain the host's.
func printableKey(key string) string {
	key = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" =:\"", r) {
			return '_'
		}
		return r
	}, text.Printable(key, maxLogKey))
	switch key {
	case "strategy", "pid":
		return "plugin." + key
	}
	return key
}

// printableValue leaves numbers and the like as they are; lists and objects become JSON in one line.
func printableValue(v any) any {
	switch v := v.(type) {
	case nil, bool, float64:
		return v
	case string:
		return text.Printable(v, maxLogText)
	default:
		raw, _ := json.Marshal(v) // it came as JSON
		return text.Printable(string(raw), maxLogText)
	}
}

// stdioLogger logs go-plugin's streams, which take over a plugin's standard output and error after the handshake, and
// remembers what came.
type stdioLogger struct {
	lineLogger
	mu    sync.Mutex
	lines int
	first []string
}

// Write may get part of a line.
func (l *stdioLogger) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		l.plain(trimEOL(line))
		l.mu.Lock()
		if l.lines++; len(l.first) < keptNoise {
			l.first = append(l.first, text.Printable(string(trimEOL(line)), keptNoiseLine))
		}
		l.mu.Unlock()
	}
	return len(p), nil
}

func (l *stdioLogger) came() (lines int, first []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines, l.first[:len(l.first):len(l.first)]
}
