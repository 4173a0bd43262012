package verify

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// most lines and bytes of a line that are kept of what a plugin prints.
const (
	keptLines = 5
	keptBytes = 4096
)

// stdout is what a plugin writes to its standard output.
type stdout struct {
	first     chan struct{} // closed when there was a line that looks like a handshake
	handshake string        // valid after first

	mu    sync.Mutex
	noise []string // everything else, up to keptLines
	lines int      // of noise in all
}

func newStdout() *stdout { return &stdout{first: make(chan struct{})} }

// read reads to the end.
func (o *stdout) read(r io.Reader) {
	br := bufio.NewReaderSize(r, keptBytes)
	seen, rest := false, false
	for {
		line, err := br.ReadSlice('\n')
		text := strings.TrimRight(string(line), "\r\n")
		switch {
		case rest || len(line) == 0: // what was cut off
		case !seen && strings.HasPrefix(text, "1|"):
			seen = true
			o.handshake = text
			close(o.first)
		default:
			o.add(text)
		}
		rest = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !rest {
			return
		}
	}
}

func (o *stdout) add(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lines++; len(o.noise) < keptLines {
		o.noise = append(o.noise, oneLine(line, 100))
	}
}

// printed quotes what was printed beside the handshake line, as the end of a sentence.
func (o *stdout) printed() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lines == 0 {
		return ""
	}
	return fmt.Sprintf("; it printed %d other lines, such as %q", o.lines, o.noise)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p[max(0, len(p)-keptBytes):]...)
	if len(t.buf) > 2*keptBytes { // so that each byte moves at most once
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-keptBytes:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
