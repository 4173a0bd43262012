package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/compare/htmlreport"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/internal/atomicfile"
	"github.com/thresh-dev/thresh/internal/buildinfo"
)

// readAll reads the sessions. It reports a file that cannot be read at once, compares the others, and returns an error
// at the end. A file given twice, as overlapping globs do, counts once: it would have twice the weight in the totals.
// Sessions are read one at a time, as all of them are in memory until the comparison ends.
func (a *app) readAll(ctx context.Context, files []string) ([]compare.Session, error) {
	var sessions []compare.Session
	var failed error
	var read []string
	var all []*transcript.Transcript
	names := sessionNames(files)
	seen := map[string]bool{} // as given: two paths to one file count as two sessions
	bar := newProgress(a.err)
	for i, file := range files {
		if seen[file] {
			fmt.Fprintf(a.err, "%s: given twice, compared once\n", displayPath(file))
			continue
		}
		seen[file] = true
		bar.step("read", i, len(files))
		t, err := a.read(ctx, file)
		bar.clear()
		// The sums of a part of the sessions would mean something else than asked for.
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read sessions: %w", ctx.Err())
		}
		if err != nil {
			fmt.Fprintf(a.err, "thresh: %v\n", err)
			a.unread++
			failed = errReported
			continue
		}
		read, all = append(read, file), append(all, t)
	}
	transcript.CountOnce(all)
	for i, t := range all {
		a.warnings(read[i], t.Notes)
		if t.Elsewhere > 0 && len(t.Requests()) == 0 {
			fmt.Fprintf(a.err, "%s: it has no request of its own and is not compared\n", displayPath(read[i]))
			continue
		}
		sessions = append(sessions, compare.Session{Name: names[read[i]], Transcript: t})
	}
	a.endNotes()
	if len(sessions) == 0 && failed == nil {
		return nil, errors.New("no session has a request of its own")
	}
	return sessions, failed
}

// sessionNames returns a display name for each file: the last path element, or the path as given if another file has
// the same last element. The names are row labels and keys of the JSON form, so they must be unique. The whole path is
// always unique, because [app.readAll] reads each path once.
func sessionNames(files []string) map[string]string {
	// By display name, the set of different paths with it: a path that is given twice does not make its own name
	// ambiguous.
	same := map[string]map[string]bool{}
	for _, f := range files {
		name := displayName(f)
		if same[name] == nil {
			same[name] = map[string]bool{}
		}
		same[name][f] = true
	}
	names := make(map[string]string, len(files))
	for _, f := range files {
		if names[f] = displayName(f); len(same[names[f]]) > 1 {
			names[f] = f
		}
	}
	return names
}

// checkReport fails for a page that could not be written, such as in a missing directory, before minutes of work; "" is
// none.
func (a *app) checkReport(path string) error {
	if path == "" {
		return nil
	}
	if err := atomicfile.Check(a.path(path)); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// writeReport writes the HTML page atomically: a browser or an interrupted run never sees half of one. It is the only
// place that puts the time and version on the page: htmlreport itself is deterministic.
func (a *app) writeReport(path string, page func(io.Writer, htmlreport.Options) error) error {
	err := atomicfile.Write(a.path(path), 0o644, func(w io.Writer) error {
		return page(w, htmlreport.Options{Made: time.Now(), Version: buildinfo.Version()})
	})
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}
