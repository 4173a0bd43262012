package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progress shows how far a long operation is, on one line of a terminal that it redraws. If the output is not a
// terminal it shows nothing, so logs and pipes stay clean. It is not safe for concurrent use: whatever runs in
// parallel reports from one goroutine at a time.
type progress struct {
	// nil: not a terminal
	out io.Writer
	// when the line was last drawn by show
	last time.Time
	// the line is on the screen and must be cleared before anything else is printed
	used bool
}

// newProgress returns a progress line on out. cobra may hand over any writer, so the check is on the type first.
func newProgress(out io.Writer) *progress {
	if p, ok := out.(safeStderr); ok {
		out = p.File // the line is drawn with control characters
	}
	if f, ok := out.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		out = nil
	}
	return &progress{out: out}
}

// progressEvery is the shortest time between two updates: drawing for each of thousands of entries would take longer
// than the replay itself. In wall-clock time. Ten updates a second look smooth and cost nothing.
const progressEvery = 100 * time.Millisecond

// show draws the line unless it was drawn a moment ago. "\r\x1b[K" returns to the first column and erases the line.
func (p *progress) show(name string, done, of int) {
	if p.out == nil || time.Since(p.last) < progressEvery {
		return
	}
	// done is printed as it is given; callers count from 0 or 1 as it reads best.
	p.last, p.used = time.Now(), true
	fmt.Fprintf(p.out, "\r\x1b[K%s: entry %d of %d", name, done, of)
}

// clear erases the line. Call it before printing to standard error, or the message is appended to the line. Calling
// it again, or without a line, does nothing.
func (p *progress) clear() {
	if p.used {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.used = false
	}
}
