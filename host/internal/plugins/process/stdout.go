package process

import (
	"fmt"
	"io"
	"strings"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
	"github.com/thresh-dev/thresh/internal/text"
)

const (
	// keptNoise is how many lines of standard output besides the handshake are kept.
	keptNoise = 3
	// keptNoiseLine is where each of them is cut, in bytes.
	keptNoiseLine = 200
)

// handshakeLine is what go-plugin servers print: CORE|APP|NETWORK|ADDRESS|PROTOCOL|…
var handshakeLine = lazyregexp.New(`^(\d+)\|(\d+)\|(unix|tcp)\|[^|]+(?:\|([^|]*))?`)

// handshake picks the handshake line out of a plugin's standard output. Libraries print greetings there, which would
// make go-plugin fail: all other lines are logged and dropped.
type handshake struct {
	found chan struct{}
	r     *io.PipeReader
	w     *io.PipeWriter

	// Valid after found:
	line, core, app, protocol string
	// Valid once the output has ended: the first lines before the handshake or instead of it, the first after it, and
	// how many there were in all.
	noise, late []string
	others      int
}

func newHandshake() handshake {
	r, w := io.Pipe()
	return handshake{found: make(chan struct{}), r: r, w: w}
}

func (h *handshake) forGoPlugin() io.ReadCloser { return h.r }

// read reads stdout to its end on one goroutine. Closing found publishes the fields of the line to others.
func (h *handshake) read(stdout io.Reader, log lineLogger) {
	defer h.w.Close()
	seen := false
	eachLine(stdout, maxLogLine, func(line []byte) {
		if !seen {
			if m := handshakeLine().FindSubmatch(line); m != nil {
				seen = true
				h.line, h.core, h.app, h.protocol = string(line), string(m[1]), string(m[2]), string(m[4])
				close(h.found)
				_, _ = h.w.Write(append(line, '\n')) // fails only if go-plugin has stopped reading
				_ = h.w.Close()
				return
			}
		}
		h.others++
		if kept := text.Printable(string(line), keptNoiseLine); strings.TrimSpace(kept) != "" {
			if seen && len(h.late) < keptNoise {
				h.late = append(h.late, kept)
			} else if !seen && len(h.noise) < keptNoise {
				h.noise = append(h.noise, kept)
			}
		}
		log.plain(line)
	})
}

func (h *handshake) complete() bool {
	select {
	case <-h.found:
		return true
	default:
		return false
	}
}

// printed quotes what was printed instead of the handshake, as the end of an error message; "" if nothing. Call it
// after the output has ended.
func (h *handshake) printed() string {
	if len(h.noise) == 0 {
		return ""
	}
	return fmt.Sprintf("; it printed %q", h.noise)
}
