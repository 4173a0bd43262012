package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/compare"
	"github.com/thresh-dev/thresh/host/compare/htmlreport"
)

// readAll reads the sessions. What cannot be read is reported, and makes the whole fail at the end.
func (a *app) readAll(ctx context.Context, files []string) ([]compare.Session, error) {
	var sessions []compare.Session
	var failed error
	names := sessionNames(files)
	seen := map[string]bool{}
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
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read sessions: %w", ctx.Err())
		}
		if err != nil {
			fmt.Fprintf(a.err, "thresh: %v\n", err)
			failed = errReported
			continue
		}
		a.warnings(file, t.Notes)
		sessions = append(sessions, compare.Session{Name: names[file], Transcript: t})
	}
	return sessions, failed
}

// sessionNames are the files' names, with their folders where two would be the same.
func sessionNames(files []string) map[string]string {
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

// writeReport writes the page beside its place first: whoever looks at an earlier one sees that, or the whole new one.
func writeReport(path string, r *compare.Report) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("--report: %w", err)
		}
	}()
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	err = htmlreport.Write(f, r, htmlreport.Options{Made: time.Now(), Version: host.Version()})
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
