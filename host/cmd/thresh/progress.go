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
		out = p.File // the line is drawn with control characters
	}
	if f, ok := out.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		out = nil
	}
	return &progress{out: out}
}

// progressEvery is the shortest time between two updates. Drawing for each of thousands of entries would take longer
// than the replay itself.
const progressEvery = 100 * time.Millisecond

// show draws the line unless it was drawn a moment ago. "\r\x1b[K" erases it first.
func (p *progress) show(name string, done, of int) {
	if p.out == nil || time.Since(p.last) < progressEvery {
		return
	}
	p.last, p.used = time.Now(), true
	fmt.Fprintf(p.out, "\r\x1b[K%s: entry %d of %d", name, done, of)
}

// left returns a function that shows how much of a known amount is done, and how long the rest may take at the pace so
// far.
func (p *progress) left(what string) func(done, of int) {
	start := time.Now()
	return func(done, of int) {
		if p.out == nil || done <= 0 {
			return
		}
		p.used = true
		rest := time.Since(start) / time.Duration(done) * time.Duration(of-done)
		fmt.Fprintf(p.out, "\r\x1b[K%d of %d %s done, about %s left", done, of, what, rest.Round(time.Second))
	}
}

// clear erases the line, if there is one. Call it before printing to standard error, or the message is appended to it.
func (p *progress) clear() {
	if p.used {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.used = false
	}
}
