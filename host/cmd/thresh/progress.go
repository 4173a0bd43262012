package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progress shows how far a long operation is, on one line of a terminal that it redraws; nothing if the output is not a
// terminal. It is not safe for concurrent use.
type progress struct {
	out  io.Writer
	last time.Time
	// used means that the line is on the screen and must be cleared before anything else is printed.
	used bool
}

func newProgress(out io.Writer) *progress {
	if p, ok := out.(safeStderr); ok {
		out = p.Writer // the line is drawn with control characters
	}
	if f, ok := out.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		out = nil
	}
	return &progress{out: out}
}

// progressEvery is the shortest time between two updates. Drawing for each of thousands of entries would take longer
// than the replay itself.
const progressEvery = 100 * time.Millisecond

// draw replaces the line: "\r\x1b[K" erases it first.
func (p *progress) draw(format string, args ...any) {
	if p.out != nil {
		p.used = true
		fmt.Fprintf(p.out, "\r\x1b[K"+format, args...)
	}
}

// show draws how many entries are done, unless it did so a moment ago.
func (p *progress) show(name string, done, of int) {
	if time.Since(p.last) >= progressEvery {
		p.last = time.Now()
		p.draw("%s: entry %d of %d", name, done, of)
	}
}

// bytes draws how much of a file has come, unless it did so a moment ago; of is -1 if its size is unknown.
func (p *progress) bytes(file string, done, of int64) {
	const mb = 1 << 20
	switch {
	case time.Since(p.last) < progressEvery:
		return
	case of < 0:
		p.draw("%s: %.1f MB", file, float64(done)/mb)
	default:
		p.draw("%s: %.1f of %.1f MB", file, float64(done)/mb, float64(of)/mb)
	}
	p.last = time.Now()
}

// step shows which of a few long steps is running. done counts the complete ones.
func (p *progress) step(name string, done, of int) { p.draw("%d of %d: %s", done+1, of, name) }

// left returns a function that shows how much of a known amount is done, and how long the rest may take at the pace so
// far.
func (p *progress) left(what string) func(done, of int) {
	start := time.Now()
	return func(done, of int) {
		if done <= 0 { // nothing says the pace
			return
		}
		rest := time.Since(start) / time.Duration(done) * time.Duration(of-done)
		p.draw("%d of %d %s done, about %s left", done, of, what, rest.Round(time.Second))
	}
}

// clear erases the line, if there is one. Call it before printing to standard error, or the message is appended to it.
func (p *progress) clear() {
	if p.used {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.used = false
	}
}
