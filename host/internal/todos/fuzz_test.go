package todos_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

// FuzzObserve holds that whatever a model and its tools say gives a list that passes Check, and does not change the
// list if the tool failed.
func FuzzObserve(f *testing.F) {
	f.Add("TodoWrite", `{"todos":[{"content":"a","status":"pending","subtasks":["b",{"id":3,"content":"c"}]}]}`, `"ok"`)
	f.Add("update_plan", `{"plan":"[{\"step\":\"a\"}]"}`, `null`)
	f.Add("TaskCreate", `{"subject":"a"}`, `"Task #1 created"`)
	f.Add("TaskCreate", `{"description":"\ud800"}`, `{"task":{"id":1}}`)
	f.Add("TaskUpdate", `{"taskId":"1","status":"deleted"}`, `[]`)
	f.Fuzz(func(t *testing.T, tool, parameters, result string) {
		tracker := track(
			turn{"1", "TaskCreate", `{"subject":"a"}`, `"Task #1 created"`, ""},
			turn{"1", tool, parameters, result, "failed"},
		)
		if got := lines(tracker.Todos()); got != "1 pending a\n" {
			t.Fatalf("a failed call changed the list:\n%s", got)
		}
		for range 2 {
			observe(tracker, tool, parameters, result)
			if err := todos.Check(tracker.Todos()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func observe(tracker *todos.Tracker, tool, parameters, result string) {
	tracker.Observe(content.Content{Speaker: content.AI, Blocks: []content.Block{
		content.ToolCall{ID: "1", Name: tool, Parameters: json.RawMessage(parameters)},
	}})
	tracker.Observe(content.Content{Speaker: content.Tool, Blocks: []content.Block{
		content.ToolResponse{CallID: "1", Result: json.RawMessage(result)},
	}})
}

func TestAnyHistoryGivesAValidListAndAnyCutOfItToo(t *testing.T) {
	tools := rapid.SampledFrom([]string{"TodoWrite", "write_todos", "update_plan", "TaskCreate", "TaskUpdate", "Bash"})
	params := rapid.SampledFrom([]string{
		`{"todos":[{"content":"a","status":"completed"},{"description":"b"}]}`,
		`{"plan":[{"step":"c","status":"in_progress"}]}`,
		`{"subject":"d"}`, `{"taskId":"1","status":"completed"}`, `{"taskId":2,"status":"deleted"}`, `{"todos":[]}`,
		`7`,
	})
	rapid.Check(t, func(t *rapid.T) {
		history := gen.History(gen.Options{Malformed: true}).Draw(t, "history")
		var tracker todos.Tracker
		for i, entry := range history {
			for j, block := range entry.Blocks {
				if call, ok := block.(content.ToolCall); ok && rapid.Bool().Draw(t, "todo") {
					call.Name, call.Parameters = tools.Draw(t, "tool"), json.RawMessage(params.Draw(t, "parameters"))
					entry.Blocks[j] = call
				}
			}
			tracker.Observe(entry)
			if err := todos.Check(tracker.Todos()); err != nil {
				t.Fatalf("after entry %d: %v", i, err)
			}
		}
	})
}

// BenchmarkHostile observes input made to be slow, at two sizes: twice the input should take twice the time.
func BenchmarkHostile(b *testing.B) {
	list := func(element string) func(int) (string, int) {
		return func(n int) (string, int) { return `{"todos":[` + strings.Repeat(element+",", n) + `"x"]}`, 1 }
	}
	for name, tt := range map[string]struct {
		tool string
		make func(n int) (parameters string, times int)
	}{
		"tasks of a list": {"TodoWrite", list(`{"content":"a","status":"pending","id":"1"}`)},
		"no tasks":        {"TodoWrite", list(`null`)},
		"subtasks":        {"TodoWrite", list(`{"content":"a","subtasks":["b","c"]}`)},
		"nested": {"TodoWrite", func(n int) (string, int) {
			n = min(n, 4000) // JSON may be nested some thousands deep
			return `{"todos":` + strings.Repeat(`[{"content":"a","subtasks":`, n) + `[]` + strings.Repeat(`}]`, n) +
				`}`, 1
		}},
		"one letter": {"TodoWrite", func(n int) (string,
			int) {
			return `{"todos":["` + strings.Repeat("a", 20*n) + `"]}`, 1
		}},
		"fields of a task": {"TodoWrite", func(n int) (string, int) {
			return `{"todos":[{` + strings.Repeat(`"content":"a",`, n) + `"status":"pending"}]}`, 1
		}},
		"tasks created":   {"TaskCreate", func(n int) (string, int) { return `{"subject":"a"}`, n }},
		"tasks not found": {"TaskUpdate", func(n int) (string, int) { return `{"taskId":"x","status":"done"}`, n }},
	} {
		for _, n := range []int{20_000, 40_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				parameters, times := tt.make(n)
				for b.Loop() {
					var tracker todos.Tracker
					for range times {
						observe(&tracker, tt.tool, parameters, `"ok"`)
					}
					if err := todos.Check(tracker.Todos()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
