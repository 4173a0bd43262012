package todos_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/sdk"
)

// task is a pending task with subtasks.
func task(content string, subtasks ...sdk.Todo) sdk.Todo {
	return sdk.Todo{ID: content, Content: content, Status: todos.Pending, Subtasks: subtasks}
}

func with(status string, t sdk.Todo) sdk.Todo {
	t.Status = status
	return t
}

func many(n int, t sdk.Todo) []sdk.Todo {
	list := make([]sdk.Todo, n)
	for i := range list {
		list[i] = t
	}
	return list
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		list []sdk.Todo
		want string // part of the error; "" for none
	}{
		"none": {nil, ""},
		"every status, ids that repeat": {[]sdk.Todo{task("a"), task("a"), with(todos.InProgress, task("b")),
			with(todos.Completed, task("c"))}, ""},
		"no id":                  {[]sdk.Todo{{Content: "a", Status: todos.Pending}}, ""},
		"the deepest allowed":    {[]sdk.Todo{task("a", task("b", task("c")))}, ""},
		"as many as are allowed": {many(todos.MaxTodos/2, task("a", task("b"))), ""},
		"an unknown status": {[]sdk.Todo{task("a"), with("cancelled", task("b"))},
			`todos[1] has the status "cancelled"; allowed are "pending", "in_progress" and "completed"`},
		"no status, in a subtask": {[]sdk.Todo{task("a", task("b"), with("", task("c")))},
			`todos[0].subtasks[1] has the status ""`},
		"no content": {[]sdk.Todo{task("a"), task(" \n")}, "todos[1] has no content"},
		"a long content": {[]sdk.Todo{task(strings.Repeat("a", todos.MaxContent+1))},
			"the content of todos[0] has 4097 bytes; allowed are 4096"},
		"bytes that are no text": {[]sdk.Todo{task("\xff")}, "todos[0] is not UTF-8"},
		"too deep": {[]sdk.Todo{task("a", task("b", task("c", task("d"))))},
			"todos[0].subtasks[0].subtasks[0].subtasks is nested 4 deep; allowed are 3 levels"},
		"too many": {many(todos.MaxTodos/2+1, task("a", task("b"))),
			"todos[250] is one too many; allowed are 500 tasks"},
		"too long together": {many(100, task(strings.Repeat("a", todos.MaxContent/2))),
			"with todos[64] the list has 266240 bytes; allowed are 262144"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := todos.Check(tt.list)
			if tt.want == "" && err != nil || tt.want != "" &&
				(!errors.Is(err, todos.ErrInvalid) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestActiveLeavesWhatIsNotDone(t *testing.T) {
	list := []sdk.Todo{
		with(todos.Completed, task("a", task("b"))),
		with(todos.InProgress, task("c", with(todos.Completed, task("d")), task("e"))),
		with("cancelled", task("f")),
		with("of another kind", task("g")),
		task("h", with(todos.Completed, task("i"))),
	}
	const before = "a completed a\n  b pending b\nc in_progress c\n  d completed d\n  e pending e\nf cancelled f\ng " +
		"of another kind g\nh pending h\n  i completed i\n"
	got := todos.Active(list)
	if diff := cmp.Diff("c in_progress c\n  e pending e\ng of another kind g\nh pending h\n", lines(got)); diff != "" {
		t.Error(diff)
	}
	got[0].Subtasks[0].Content = "x"
	if diff := cmp.Diff(before, lines(list)); diff != "" {
		t.Errorf("the list itself changed:\n%s", diff)
	}
	if got := todos.Active(list[:1]); got != nil {
		t.Errorf("nothing is left, but got %v", got)
	}
}
