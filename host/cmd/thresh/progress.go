package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progress shows how far a long operation is, on one line of a terminal. If the output is not a terminal, it shows
// nothing.
type progress struct {
	out  io.Writer
	last time.Time
	used bool
}

func newProgress(out io.Writer) *progress {
	if f, ok := out.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		out = nil
	}
	return &progress{out: out}
}

// progressEvery bounds how often the line is drawn.
const progressEvery = 100 * time.Millisecond

func (p *progress) show(name string, done, of int) {
	if p.out == nil || time.Since(p.last) < progressEvery {
		return
	}
	p.last, p.used = time.Now(), true
	fmt.Fprintf(p.out, "\r\x1b[K%s: entry %d of %d", name, done, of)
}

func (p *progress) clear() {
	if p.used {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.used = false
	}
}
