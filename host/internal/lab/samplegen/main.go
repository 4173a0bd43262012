// Command samplegen makes the sample sessions of examples/sessions.
//
// It is for maintainers of the samples; reading them needs no Go. Each session is a story: a script of what a
// developer asks and what a coding agent says and does, together with a small project to work on (stories/*.story and
// *.project). samplegen writes the project into a temporary directory and plays the story there. The dialogue is
// scripted. What tools answer is real: files are read and edited, commands run, and their output is recorded.
//
//	go run ./host/internal/lab/samplegen -out examples/sessions
//
// A second run gives the same bytes (stable.go). It needs go, git, grep and sh in PATH.
//
// To follow one session: story.go reads the script, and play.go plays it in a workspace (workspace.go, tools.go). A
// dialect (claude.go, gemini.go, native.go) words calls and responses as that agent does and writes the file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

// main exits with 1 on any error; files that were written before it stay. Ctrl-C cancels the running command of a
// story, and the workspace is removed on the way out.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "gen:", err)
		}
		os.Exit(1)
	}
}

// run makes the chosen samples. Each file is written only after its story has played to the end, so that a story that
// fails leaves the old file unchanged.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	out := flags.String("out", "examples/sessions", "directory that gets the session files")
	// For work on one story: each takes some seconds, as it compiles and tests a real project.
	only := flags.String("story", "", "make only this story, such as ledger")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, s := range samples() {
		if *only != "" && *only != s.story {
			continue
		}
		data, err := s.make(ctx)
		if err != nil {
			return fmt.Errorf("story %s: %w", s.story, err)
		}
		if err := os.WriteFile(filepath.Join(*out, s.file), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sample is one session file and what it is made from.
type sample struct {
	file  string // name of the session file
	story string // stories/<story>.story and stories/<story>.project
	// A story is told in one dialect only, as tools and formats differ: only Claude Code's has a place for compactions.
	dialect dialect
}

// samples lists all session files: one per transcript format that users are likely to have.
func samples() []sample {
	return []sample{
		{"claude-code-ratelimit.jsonl", "ratelimit", claude{}},
		{"gemini-cli-ledger.json", "ledger", gemini{}},
		{"native-mdlinks.json", "mdlinks", native{}},
	}
}

// make plays the story in a directory of its own and returns the session file.
func (s sample) make(ctx context.Context) ([]byte, error) {
	steps, err := loadStory(s.story)
	if err != nil {
		return nil, err
	}
	files, err := loadProject(s.story)
	if err != nil {
		return nil, err
	}
	ws, err := newWorkspace(ctx, s.story, files)
	if err != nil {
		return nil, err
	}
	// Before the file is returned: the file names the workspace only by its fixed path.
	defer ws.close()
	p := player{ws: ws, dialect: s.dialect, ids: ids{seed: s.story}, clock: newClock(s.story)}
	if err := p.play(ctx, steps); err != nil {
		return nil, err
	}
	return s.dialect.write(session{project: s.story, root: ws.home, ids: &p.ids, messages: p.messages})
}
