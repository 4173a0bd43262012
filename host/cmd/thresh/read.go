package main

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/lab/recordings"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/internal/text"
)

// How all commands read sessions, and what they say about what was not understood. Reading is lenient: only a file that
// holds no session at all is an error.

// maxFile is the size limit for a session file, in bytes. Counting takes about a second per two million tokens, so a
// larger file, probably not a session at all, would seem to hang; without a limit it could also exhaust memory. The
// largest sessions of agents seen so far have some tens of megabytes.
const maxFile = 128 << 20

// read reads a session from a file or, for "-", from standard input. It returns when ctx is done: Ctrl-C works while a
// terminal or a pipe delivers nothing. A blocked read cannot be interrupted: the goroutine then lives until the process
// exits. Sessions that [app.take] has read already are handed over and forgotten.
func (a *app) read(ctx context.Context, name string) (*transcript.Transcript, error) {
	if t, ok := a.taken[name]; ok {
		delete(a.taken, name)
		return t, nil
	}
	type result struct {
		t   *transcript.Transcript
		err error
	}
	// Buffered: a late result does not block the goroutine, which touches nothing of the app but in.
	done := make(chan result, 1)
	go func() {
		t, err := a.readQuietly(name)
		done <- result{t, err}
	}()
	select {
	case r := <-done:
		return r.t, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("read %s: %w", displayName(name), ctx.Err())
	}
}

// readQuietly reads a session and prints nothing; the notes are in the result. Errors name the source once.
func (a *app) readQuietly(name string) (*transcript.Transcript, error) {
	// An agent may be writing the file.
	o := transcript.Options{MaxBytes: maxFile, AllowCut: true, From: transcript.Format(a.from)}
	if name == "-" {
		t, err := transcript.Read(a.in, o)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return t, nil
	}
	return recordings.Read(a.path(name), o)
}

// warnings prints notes on a file that was read, at once. Routine notes, such as those on bookkeeping records that
// every session of some agents has, are summarised in one line: dozens of them would hide the one that matters. What
// was said about one file is not said about the next; see [app.endNotes].
func (a *app) warnings(name string, notes []transcript.Note) {
	var shown []transcript.Note
	if a.noted == nil {
		a.noted = map[string]string{}
	}
	routine := false
	for _, n := range notes {
		kind := n.Kind
		if n.Routine {
			if routine {
				continue
			}
			routine, kind = true, "routine"
		}
		switch first, known := a.noted[kind]; {
		case kind != "" && known && first != name:
			a.repeated++
		case n.Routine:
			a.noted[kind] = name
			fmt.Fprintf(a.err, "%s: skipped records that are not part of the conversation; "+
				"'thresh sessions convert' lists them\n", displayPath(name))
		default:
			a.noted[kind] = name
			shown = append(shown, n)
		}
	}
	a.notes(name, shown)
}

func (a *app) endNotes() {
	if a.repeated > 0 {
		fmt.Fprintf(a.err, "%s like this on other files; 'thresh sessions convert FILE' lists them\n",
			plural(a.repeated, "note"))
	}
	a.repeated = 0
}

// maxNotes is how many notes on one file are printed: a broken file may have one for each of its lines. 20 fit a
// screen.
const maxNotes = 20

func (a *app) notes(name string, notes []transcript.Note) {
	for _, n := range notes[:min(len(notes), maxNotes)] {
		fmt.Fprintf(a.err, "%s: %s\n", displayPath(name), n)
	}
	if more := len(notes) - maxNotes; more > 0 {
		fmt.Fprintf(a.err, "%s: and %d more\n", displayPath(name), more)
	}
}

func displayPath(name string) string {
	if name == "-" {
		return "standard input"
	}
	return text.Printable(name, maxName)
}
