package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// workspace is the temporary directory in which a story's tools work. In the session it appears as home. Commands see
// dir. Every text that leaves the workspace has home in its place ([settle]).
type workspace struct {
	dir  string // the real path
	home string // the path in sessions: /home/dev/<project>
	temp string // parent of dir; also holds HOME for the commands
	// env is the whole environment of commands; nothing of the caller's own is passed on but PATH.
	env []string
}

// newWorkspace writes the project's files into a new directory and commits them to git, with fixed dates and names.
func newWorkspace(ctx context.Context, project string, files []file) (*workspace, error) {
	// Said at once: a story that fails halfway because git is missing would look like a broken story.
	for _, tool := range []string{"go", "git", "grep", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("the stories run %s: %w", tool, err)
		}
	}
	temp, err := os.MkdirTemp("", "sessions-")
	if err != nil {
		return nil, err
	}
	ws := &workspace{temp: temp, home: "/home/dev/" + project}
	if err := ws.fill(ctx, project, files); err != nil {
		// A half-filled directory is of no use.
		ws.close()
		return nil, err
	}
	return ws, nil
}

// fill writes the project and prepares an environment in which commands give the same output on every machine: fixed
// time zone, locale and author, no network, no user configuration of Go or git. GOCACHE is the user's, as compiling
// the standard library for each sample would take minutes.
func (ws *workspace) fill(ctx context.Context, project string, files []file) error {
	// Commands print the resolved path, and [settle] replaces what they print.
	real, err := filepath.EvalSymlinks(ws.temp)
	if err != nil {
		return err
	}
	ws.dir = filepath.Join(real, project)
	for _, f := range files {
		if err := ws.save(f.path, f.text); err != nil {
			return err
		}
	}
	// Asked before GOENV is switched off, which may be where the user set it.
	cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return fmt.Errorf("go env GOCACHE: %w", err)
	}
	ws.env = []string{
		// TMPDIR is the user's, not the workspace's: what go builds there must not appear in the project.
		"PATH=" + os.Getenv("PATH"), "HOME=" + real, "TMPDIR=" + os.TempDir(), "LC_ALL=C", "TZ=UTC",
		"GOCACHE=" + strings.TrimSpace(string(cache)), "GOENV=off", "GOWORK=off", "GOPROXY=off", "GOTOOLCHAIN=local",
		"CGO_ENABLED=0", "GOTELEMETRY=off",
		// -p=1 tests one package after the other, so that the output has a fixed order. -trimpath keeps the name of
		// the temporary directory out of the cache keys, so that the next run reuses what this one compiled.
		"GOFLAGS=-p=1 -buildvcs=false -trimpath",
		// Author, committer and dates fixed: commit hashes appear in the output of git.
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_PAGER=cat", "GIT_CEILING_DIRECTORIES=" + real,
		"GIT_AUTHOR_NAME=Robin Dev", "GIT_AUTHOR_EMAIL=robin@example.com", "GIT_AUTHOR_DATE=2026-03-01T12:00:00Z",
		"GIT_COMMITTER_NAME=Robin Dev", "GIT_COMMITTER_EMAIL=robin@example.com",
		"GIT_COMMITTER_DATE=2026-03-01T12:00:00Z",
		// Short hashes have a length that depends on the number of objects unless it is set.
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.abbrev", "GIT_CONFIG_VALUE_0=7", "GIT_CONFIG_KEY_1=color.ui",
		"GIT_CONFIG_VALUE_1=never",
	}
	const setup = `git init -q -b main --object-format=sha1 . && git add -A && git commit -q -m "Import"`
	if r := ws.shell(ctx, setup); r.exit != 0 {
		return fmt.Errorf("setting up git: %s", r.text)
	}
	return nil
}

// close removes the directory with all that commands left in it.
func (ws *workspace) close() { _ = os.RemoveAll(ws.temp) } // a leftover is harmless

// result is what a tool found or did, before a dialect words it.
type result struct {
	// text is as the tool has it; agents put line numbers or headings around it.
	text  string // file content, output, matches
	first int    // number of the first line of text, for reads of a part
	total int    // lines of the whole file
	exit  int    // exit status of a command
	isNew bool   // a write that created the file
	// failure is the tool's own error text. A command with an exit status above 0 did run and has none.
	failure string
}

// failed reports whether the agent sees the call as failed: the tool reported an error, or the command exited with
// one.
func (r result) failed() bool { return r.failure != "" || r.exit != 0 }

// load reads a file of the project by its relative path; save writes one.
func (ws *workspace) load(name string) (string, error) {
	data, err := os.ReadFile(ws.real(name))
	return string(data), err
}

// save writes a file of the project and creates its directories.
func (ws *workspace) save(name, text string) error {
	p := ws.real(name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return err
	}
	return os.WriteFile(p, []byte(text), 0o644)
}

// real returns the path of a file on this machine.
func (ws *workspace) real(name string) string { return filepath.Join(ws.dir, filepath.FromSlash(name)) }

// shown is the path as an agent that works with absolute paths writes it.
func (ws *workspace) shown(name string) string { return path.Join(ws.home, name) }

// shell runs command with sh in the workspace. Standard output and error are one stream, as on a terminal. A shell that
// cannot be started is a failure of the tool, as an agent would see it. An exit status above 0 is none.
func (ws *workspace) shell(ctx context.Context, command string) result {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env = ws.dir, ws.env
	out, err := cmd.CombinedOutput()
	r := result{text: settle(strings.TrimRight(string(out), "\n"), ws.dir, ws.home)}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		r.exit = exit.ExitCode()
	case err != nil:
		r.failure = err.Error()
	}
	return r
}

// files returns the relative paths of all files, sorted, without those of git. Sorted, so that what glob and grep find
// stands in the same order on every file system.
func (ws *workspace) files() ([]string, error) {
	var names []string
	err := fs.WalkDir(os.DirFS(ws.dir), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.IsDir():
			names = append(names, p)
		}
		return nil
	})
	return names, err
}
