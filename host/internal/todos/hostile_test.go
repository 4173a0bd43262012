package todos_test

import (
	"testing"

	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/internal/testkit/hostile"
)

// What a model writes into its task list, and what the tool answers, takes time in proportion.
func FuzzGrown(f *testing.F) {
	texts := append(hostile.Some(`{"todos":[{"content":"a","status":"pending","subtasks":["b",{"id":3,"content":"c"}]}],`+
		`"plan":"[{\"step\":\"a\"}]"}`, 16), hostile.Some(`{"task":{"id":1},"subject":"a","taskId":"1"}`, 8)...)
	hostile.Fuzz(f, func(text string) {
		var tracker todos.Tracker
		for _, tool := range []string{"TodoWrite", "update_plan", "TaskCreate", "TaskUpdate"} {
			observe(&tracker, tool, text, `"ok"`)
			observe(&tracker, tool, `{"subject":"a"}`, text)
		}
	}, texts...)
}
