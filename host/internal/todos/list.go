package todos

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/internal/failure"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// The states of a task. A cancelled task is not on the list.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
)

// Limits of a list. It is sent in one message with each Compress, and a summary of hundreds of tasks is useless.
const (
	// MaxTodos is in tasks, subtasks included.
	MaxTodos = 500
	// MaxDepth is how deep tasks may nest: a task, its subtasks, their subtasks.
	MaxDepth = 3
	// MaxContent is the length of a task's content, in bytes.
	MaxContent = 4 << 10
	// MaxBytes is the total length of ids and contents, in bytes.
	MaxBytes = 256 << 10

	maxID = 256 // bytes; a Tracker ignores longer ids
)

// ErrInvalid is wrapped by every error of [Check], with a [*content.PathError] that says where in the list.
var ErrInvalid = failure.New(failure.Entry, "invalid todo list")

// Check returns an error for a task with a blank content, a status other than [Pending], [InProgress] or [Completed],
// or text that is not UTF-8, and for a list beyond MaxTodos to MaxBytes. Ids may be empty or repeat.
func Check(list []sdk.Todo) error {
	var total size
	return total.check("todos", list, 1)
}

type size struct{ todos, bytes int }

// check checks one level of a list. path names it in errors, such as todos[2].subtasks.
func (s *size) check(path string, list []sdk.Todo, depth int) error {
	if len(list) > 0 && depth > MaxDepth {
		return wrong(path, "", "%s is nested %d deep; allowed are %d levels", path, depth, MaxDepth)
	}
	for i, t := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		s.add(t)
		switch {
		case strings.TrimSpace(t.Content) == "":
			return wrong(at, ".content", "%s has no content", at)
		case len(t.Content) > MaxContent:
			return wrong(at, ".content", "the content of %s has %d bytes; allowed are %d", at, len(t.Content), MaxContent)
		case !utf8.ValidString(t.Content) || !utf8.ValidString(t.ID):
			return wrong(at, "", "%s is not UTF-8", at)
		case t.Status != Pending && t.Status != InProgress && t.Status != Completed:
			return wrong(at, ".status", "%s has the status %q; allowed are %q, %q and %q", at, clip(t.Status, 40), Pending,
				InProgress, Completed)
		case s.todos > MaxTodos:
			return wrong(at, "", "%s is one too many; allowed are %d tasks, subtasks included", at, MaxTodos)
		case s.bytes > MaxBytes:
			return wrong(at, "", "with %s the list has %d bytes; allowed are %d", at, s.bytes, MaxBytes)
		}
		if err := s.check(at+".subtasks", t.Subtasks, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// wrong is an error about a task, or about a member of it.
func wrong(task, member, format string, values ...any) error {
	return fmt.Errorf("%w: %w", ErrInvalid, &content.PathError{Path: strings.TrimPrefix(task, "todos") + member,
		Err: fmt.Errorf(format, values...)})
}

func (s *size) add(t sdk.Todo) {
	s.todos++
	s.bytes += len(t.ID) + len(t.Content)
}

// Active returns a deep copy of the unfinished tasks with their unfinished subtasks; a finished task's subtasks are
// left out. Nil if there is none.
func Active(list []sdk.Todo) []sdk.Todo {
	return filter(list, func(t sdk.Todo) bool { return t.Status != Completed && t.Status != cancelled })
}

// filter returns a deep copy of the tasks that pass keep. It asks for a task before its subtasks, which fit relies on.
func filter(list []sdk.Todo, keep func(sdk.Todo) bool) []sdk.Todo {
	var out []sdk.Todo
	for _, t := range list {
		if keep(t) {
			t.Subtasks = filter(t.Subtasks, keep)
			out = append(out, t)
		}
	}
	return out
}

// fit returns a copy of list within MaxTodos and MaxBytes. It drops finished tasks first, then the last ones.
func fit(list []sdk.Todo) []sdk.Todo {
	var all size
	out := filter(list, func(t sdk.Todo) bool { all.add(t); return true })
	if all.fits() {
		return out
	}
	var taken size
	full := false
	return filter(Active(list), func(t sdk.Todo) bool {
		with := taken
		with.add(t)
		if full = full || !with.fits(); !full {
			taken = with
		}
		return !full
	})
}

func (s *size) fits() bool { return s.todos <= MaxTodos && s.bytes <= MaxBytes }

// clip shortens s to at most n bytes, ellipsis included.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return text.Clip(s, n-len(text.Ellipsis))
}
