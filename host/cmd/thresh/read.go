package main

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/transcript"
)

// maxFile bounds a session's file, in bytes: counting tokens takes about a second for every two million of them.
const maxFile = 128 << 20

// read reads a session from a file or, for "-", from standard input. It ends with ctx, so that Ctrl-C works while
// standard input is a terminal.
func (a *app) read(ctx context.Context, name string) (*transcript.Transcript, error) {
	type result struct {
		t   *transcript.Transcript
		err error
	}
	done := make(chan result, 1)
	go func() {
		t, err := a.readQuietly(name)
		done <- result{t, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, r.err
		}
		return r.t, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("read %s: %w", displayName(name), ctx.Err())
	}
}

func (a *app) readQuietly(name string) (*transcript.Transcript, error) {
	o := transcript.Options{MaxBytes: maxFile}
	if name == "-" {
		t, err := transcript.Read(a.in, o)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return t, nil
	}
	return transcript.ReadFile(name, o)
}

// warnings prints what a user should know of a file that was read, and in one line that there is more.
func (a *app) warnings(name string, notes []transcript.Note) {
	var shown []transcript.Note
	for _, n := range notes {
		if !n.Routine {
			shown = append(shown, n)
		}
	}
	a.notes(name, shown)
	if len(notes) > len(shown) {
		fmt.Fprintf(a.err, "%s: bookkeeping left out; 'thresh convert' lists it\n", displayPath(name))
	}
}

// mostNotes is how many notes on one file are printed: a broken file may have one for each of its lines.
const mostNotes = 20

// notes prints what a reader or writer has to say about a file.
func (a *app) notes(name string, notes []transcript.Note) {
	for _, n := range notes[:min(len(notes), mostNotes)] {
		fmt.Fprintf(a.err, "%s: %s\n", displayPath(name), n)
	}
	if more := len(notes) - mostNotes; more > 0 {
		fmt.Fprintf(a.err, "%s: and %d more\n", displayPath(name), more)
	}
}

// displayPath is a file's name as messages show it.
func displayPath(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}
