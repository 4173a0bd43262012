package todos_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/todos"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// turn is a call and its answer; a turn without tool is an answer alone, one without answer is not answered.
type turn struct {
	id, tool, parameters string
	answer               string // JSON
	failure              string
}

func track(turns ...turn) *todos.Tracker {
	var t todos.Tracker
	for _, u := range turns {
		if u.tool != "" {
			t.Observe(content.Content{Speaker: content.AI, Blocks: []content.Block{
				content.Text{Text: "now"}, content.ToolCall{ID: u.id, Name: u.tool,
					Parameters: json.RawMessage(u.parameters)},
			}})
		}
		if u.answer != "" || u.failure != "" {
			t.Observe(content.Content{Speaker: content.Tool, Blocks: []content.Block{
				content.ToolResponse{CallID: u.id, Result: json.RawMessage(u.answer), Error: u.failure},
			}})
		}
	}
	return &t
}

// lines writes a list as "id status content", subtasks indented.
func lines(list []sdk.Todo) string {
	var b strings.Builder
	var write func(indent string, list []sdk.Todo)
	write = func(indent string, list []sdk.Todo) {
		for _, t := range list {
			fmt.Fprintf(&b, "%s%s %s %s\n", indent, t.ID, t.Status, t.Content)
			write(indent+"  ", t.Subtasks)
		}
	}
	write("", list)
	return b.String()
}

func TestTheListFollowsTheCalls(t *testing.T) {
	set := func(parameters string) turn { return turn{"1", "TodoWrite", parameters, `"ok"`, ""} }
	create := func(subject, answer string) turn {
		return turn{"1", "TaskCreate", `{"subject":"` + subject + `","description":"d","activeForm":"f"}`, answer, ""}
	}
	update := func(parameters string) turn { return turn{"1", "TaskUpdate", parameters, `"Updated task"`, ""} }
	start := set(`{"todos":[{"content":"a","status":"pending","activeForm":"A"}]}`)

	tests := map[string]struct {
		turns []turn
		want  string
	}{
		"Claude Code's list": {
			[]turn{set(`{"todos":[{"content":"a","status":"completed"},` +
				`{"id":"x","content":"b","status":"in_progress"},{"content":"c","status":"pending"}]}`)},
			"1 completed a\nx in_progress b\n3 pending c\n",
		},
		"Gemini CLI's list": {
			[]turn{{"1", "write_todos", `{"todos":[{"description":"a","status":"in_progress"},` +
				`{"status":"blocked","description":"b"}]}`, `{"output":"ok"}`, ""}},
			"1 in_progress a\n2 pending b\n",
		},
		"Codex's plan": {
			[]turn{{"1", "update_plan", `{"explanation":"e","plan":[{"step":"a","status":"completed"},` +
				`{"step":"b","status":"in_progress"}]}`, `"Plan updated"`, ""}},
			"1 completed a\n2 in_progress b\n",
		},
		"subtasks, of which those without status have that of their task": {
			[]turn{{"1", "todo_write",
				`{"todos":[{"id":"1","content":"a","status":"in_progress","subtasks":[{"id":"1-1","content":"b"},` +
					`{"content":"c","status":"completed"}]}]}`, `"ok"`, ""}},
			"1 in_progress a\n  1-1 in_progress b\n  2 completed c\n",
		},
		"the latest list counts": {[]turn{start, set(`{"todos":[{"content":"b","status":"pending"}]}`)},
			"1 pending b\n"},
		"an empty list clears": {[]turn{start, set(`{"todos":[]}`)}, ""},
		"a list in a string": {[]turn{set(`{"todos":"[{\"content\":\"a\",\"status\":\"done\"}]"}`)},
			"1 completed a\n"},
		"numbers as ids, bare contents": {[]turn{set(`{"todos":[{"id":7,"content":" a "},"b"]}`)},
			"7 pending a\n2 pending b\n"},
		"words for a status": {[]turn{set(`{"todos":[{"content":"a","status":"Done"},` +
			`{"content":"b","status":"in-progress"},{"content":"c","status":"whatever"},{"content":"d","status":5}]}`)},
			"1 completed a\n2 in_progress b\n3 pending c\n4 pending d\n"},
		"a cancelled task is gone": {[]turn{set(`{"todos":[{"content":"a","status":"cancelled"},` +
			`{"content":"b","status":"pending"}]}`)}, "2 pending b\n"},
		"a list of cancelled tasks": {[]turn{start, set(`{"todos":[{"content":"a","status":"cancelled"}]}`)}, ""},
		"a failed call": {[]turn{start, {"1", "TodoWrite", `{"todos":[]}`, `"<tool_use_error>"`, "bad"}},
			"1 pending a\n"},
		"a failed call without a flag": {[]turn{start, {"1", "TodoWrite", `{"todos":[]}`,
			`"<tool_use_error>InputValidationError: x</tool_use_error>"`, ""}}, "1 pending a\n"},
		"a call that is not answered": {[]turn{start, {"1", "TodoWrite", `{"todos":[]}`, "", ""}}, "1 pending a\n"},
		"no list": {[]turn{start, set(`{"todos":{"content":"b"}}`), set(`{"todo":[]}`), set(`[]`),
			set(`"x"`), set(`{"todos":"[{"}`), set(``)}, "1 pending a\n"},
		"a list with nothing to do": {[]turn{start, set(`{"todos":[{"content":" "},5,null,{"status":"pending"}]}`)},
			"1 pending a\n"},
		"another tool": {[]turn{start, {"1", "todo_read", `{"todos":[]}`, `"ok"`, ""}}, "1 pending a\n"},
		"an answer is the nearest call's, whatever tool it called": {
			[]turn{start, {"2", "TodoWrite", `{"todos":[]}`, "", ""}, {"2", "Bash", `{}`, `"ok"`, ""}},
			"1 pending a\n",
		},
		"an answer to the call before that": {
			[]turn{start, {"2", "TodoWrite", `{"todos":[]}`, "", ""}, {"2", "Bash", `{}`, `"ok"`, ""},
				{"2", "", "", `"ok"`, ""}},
			"",
		},
		"tasks are created and change": {
			[]turn{
				create("a", `"Task #1 created successfully: a #9"`), create("b", `{"task":{"id":"2","subject":"b"}}`),
				create("c", `"created"`), create("d", `"Task #4 created"`),
				update(`{"taskId":"1","status":"in_progress"}`), update(`{"taskId":2,"status":"completed"}`),
				update(`{"taskId":"3","subject":"C","status":"odd"}`),
				update(`{"taskId":"4","status":"deleted"}`), update(`{"taskId":"9","status":"completed"}`),
				update(`{"status":"completed"}`),
			},
			"1 in_progress a\n2 completed b\n3 pending C\n",
		},
		"a task that could not be created": {[]turn{{"1", "TaskCreate", `{"subject":"a"}`, `""`, "no"},
			create("", `"Task #1 created"`)}, "1 pending d\n"},
		"counting starts over with a new list": {
			[]turn{create("a", `"Task #1 created"`), create("b", `"Task #2 created"`),
				create("c", `"Task #1 created"`)},
			"1 pending c\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tracker := track(tt.turns...)
			if diff := cmp.Diff(tt.want, lines(tracker.Todos())); diff != "" {
				t.Error(diff)
			}
			if err := todos.Check(tracker.Todos()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOnlyTheModelCallsAndOnlyToolsAnswer(t *testing.T) {
	call := content.ToolCall{ID: "1", Name: "TodoWrite", Parameters: json.RawMessage(`{"todos":["a"]}`)}
	answer := content.ToolResponse{CallID: "1"}
	var tracker todos.Tracker
	for _, c := range []content.Content{
		{Speaker: content.Human, Blocks: []content.Block{call}},
		{Speaker: content.Tool, Blocks: []content.Block{answer}},
		{Speaker: content.AI, Blocks: []content.Block{call, answer}},
	} {
		tracker.Observe(c)
	}
	if got := tracker.Todos(); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestTheListIsACopy(t *testing.T) {
	tracker := track(turn{"1", "todo_write", `{"todos":[{"content":"a","subtasks":["b"]}]}`, `"ok"`, ""})
	got := tracker.Todos()
	got[0].Content, got[0].Subtasks[0].Content = "x", "y"
	if diff := cmp.Diff("1 pending a\n  1 pending b\n", lines(tracker.Todos())); diff != "" {
		t.Error(diff)
	}
}

func TestTooMuchIsCutSoThatOpenTasksStay(t *testing.T) {
	var list []map[string]any
	for i := range 3 * todos.MaxTodos {
		status := "completed"
		if i%10 == 0 {
			status = "pending"
		}
		list = append(list, map[string]any{"content": fmt.Sprint(i) + strings.Repeat("é", todos.MaxContent/2),
			"status": status})
	}
	parameters, err := json.Marshal(map[string]any{"todos": list})
	if err != nil {
		t.Fatal(err)
	}
	got := track(turn{"1", "TodoWrite", string(parameters), `"ok"`, ""}).Todos()
	if err := todos.Check(got); err != nil {
		t.Error(err)
	}
	if want := todos.MaxBytes/todos.MaxContent - 1; len(got) < want {
		t.Errorf("%d tasks are left, want at least %d", len(got), want)
	}
	for i, todo := range got {
		if todo.Status != todos.Pending || todo.ID != fmt.Sprint(10*i+1) || !strings.HasSuffix(todo.Content, "é…") {
			t.Fatalf("task %d: %s %s …%s", i, todo.ID, todo.Status, todo.Content[len(todo.Content)-9:])
		}
	}

	deep := `{"content":"a","status":"pending"}`
	for range 2 * todos.MaxDepth {
		deep = `{"content":"a","status":"pending","subtasks":[` + deep + `]}`
	}
	got = track(turn{"1", "TodoWrite", `{"todos":[` + deep + `]}`, `"ok"`, ""}).Todos()
	if n := strings.Count(lines(got), "\n"); n != todos.MaxDepth {
		t.Errorf("nested %d deep, want %d", n, todos.MaxDepth)
	}
}

// One message may hold several calls with one id: the answer that failed is the second's.
func TestOneIDForTwoCallsOfOneMessage(t *testing.T) {
	var tracker todos.Tracker
	tracker.Observe(content.Content{Speaker: content.AI, Blocks: []content.Block{
		content.ToolCall{ID: "1", Name: "TodoWrite",
			Parameters: []byte(`{"todos":[{"content":"a","status":"pending"}]}`)},
		content.ToolCall{ID: "1", Name: "bash", Parameters: []byte(`{"command":"false"}`)},
	}})
	tracker.Observe(content.Content{Speaker: content.Tool, Blocks: []content.Block{
		content.ToolResponse{CallID: "1", Result: []byte(`"ok"`)},
		content.ToolResponse{CallID: "1", Error: "exit status 1"},
	}})
	if diff := cmp.Diff("1 pending a\n", lines(tracker.Todos())); diff != "" {
		t.Error(diff)
	}
}
