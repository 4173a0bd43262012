package prompts

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// MaxBytes is the maximum size of a prompt file. A prompt is sent with every request, besides the conversation.
const MaxBytes = 64 << 10

// A compression prompt must ask for snapshotTag, which marks summaries, and for sections.
const snapshotTag = "<state_snapshot>"

var sections = [...]string{
	"overall_goal", "key_knowledge", "current_progress", "active_tasks", "open_questions",
	"task_context", "user_directives", "errors_encountered", "code_references",
}

// FileError is about a prompt file or directory that cannot be used.
type FileError struct {
	File string
	Err  error
}

func (e *FileError) Error() string {
	return fmt.Sprintf("prompt %s: %v; correct or remove it, or see the shipped prompt with: thresh prompts show",
		e.File, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// read returns the prompt in a file; fs.ErrNotExist if there is no such file.
func read(file string) (string, error) {
	info, err := os.Stat(file)
	if errors.Is(err, syscall.ENOTDIR) {
		return "", os.ErrNotExist // the strategy's or model's name is a file, not a directory
	}
	if errors.Is(err, os.ErrNotExist) {
		if _, link := os.Lstat(file); link == nil {
			return "", errors.New("it is a link to a file that does not exist")
		}
	}
	if err != nil {
		return "", reasonOf(err)
	}
	if !info.Mode().IsRegular() { // opening a named pipe would block until it has a writer
		return "", fmt.Errorf("it is not a regular file (%s)", info.Mode().Type())
	}
	f, err := os.Open(file)
	if err != nil {
		return "", reasonOf(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return "", reasonOf(err)
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	return text, check(text, len(data))
}

// reasonOf drops the path: [FileError] names it already.
func reasonOf(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func check(text string, size int) error {
	switch {
	case size > MaxBytes:
		return fmt.Errorf("it has more than %d bytes", MaxBytes)
	case strings.TrimSpace(text) == "":
		return errors.New("it is empty")
	case !utf8.ValidString(text):
		return fmt.Errorf("line %d is not UTF-8", badLine(text))
	case !strings.Contains(text, snapshotTag):
		return fmt.Errorf("it does not ask for a %s, by which a summary is recognised", snapshotTag)
	}
	var missing []string
	for _, name := range sections {
		if tag := "<" + name + ">"; !strings.Contains(text, tag) {
			missing = append(missing, tag)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("it lacks %s", strings.Join(missing, ", "))
	}
	return nil
}

func badLine(text string) int {
	lines := slices.Collect(strings.Lines(text))
	return 1 + slices.IndexFunc(lines, func(line string) bool { return !utf8.ValidString(line) })
}
