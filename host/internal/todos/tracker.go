package todos

import (
	"slices"
	"strconv"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Tracker follows the agent's task list through a conversation. The zero value is ready. It is for one goroutine.
//
// Its lists always pass [Check]: long contents are clipped and end in "…"; of too many tasks, finished ones are left
// out first, then the last. An unknown status means [Pending].
type Tracker struct {
	// match sees all calls since the first in waiting, of any tool: ids repeat, and an answer to one must not be
	// attributed to another. waiting has the unanswered calls about tasks.
	match   turns.Matcher
	waiting map[turns.At]content.ToolCall
	seen    []seen // what match was given, to build it again
	entries int    // how many were observed
	list    []sdk.Todo
	next    int // the highest number so far, for tasks without a reported id
}

// Observe processes the next entry of the conversation. A call changes the list when its answer arrives and is not an
// error; [turns.Matcher] tells which call it answers. It reports whether the entry may have changed the list.
//
// Entries must come as added, before any compression. Updates of tasks created before the first of them change nothing.
func (t *Tracker) Observe(c content.Content) bool {
	defer func() { t.entries++ }()
	if len(t.waiting) == 0 {
		if c.Speaker == content.AI && len(t.seen) > 0 {
			// No answer to an earlier call matters, and a long session must not remember them.
			t.match, t.seen = turns.Matcher{}, nil
		}
		// Nearly all entries: they begin nothing, and there is nothing they could end.
		if c.Speaker != content.AI || !slices.ContainsFunc(c.Blocks, aboutTasks) {
			return false
		}
	}
	for i, block := range c.Blocks {
		switch b := block.(type) {
		case content.ToolCall:
			if c.Speaker == content.AI {
				t.wait(b, turns.At{Entry: t.entries, Block: i})
			}
		case content.ToolResponse:
			if c.Speaker == content.Tool {
				t.answer(b)
			}
		}
	}
	return true
}

func aboutTasks(b content.Block) bool {
	call, ok := b.(content.ToolCall)
	if !ok {
		return false
	}
	return SetsAll(call.Name) || call.Name == "TaskCreate" || call.Name == "TaskUpdate"
}

// SetsAll reports whether a call of a tool sets the whole list of tasks.
func SetsAll(tool string) bool {
	switch tool {
	case "TodoWrite", "todo_write", "todowrite", "write_todos", "update_plan":
		return true
	}
	return false
}

// Todos returns a copy of the current list; nil if there is none. Ids are the agent's, or else positions from 1.
func (t *Tracker) Todos() []sdk.Todo { return fit(t.list) }

// wait registers a call.
func (t *Tracker) wait(call content.ToolCall, at turns.At) {
	t.see(seen{At: &at, ID: call.ID, Name: call.Name})
	if aboutTasks(call) {
		if t.waiting == nil {
			t.waiting = map[turns.At]content.ToolCall{}
		}
		t.waiting[at] = content.ToolCall{Name: call.Name, Parameters: call.Parameters}
	}
}

// noRules judges answers to calls about tasks: agents report their failures as those of any other.
var noRules *tools.Taxonomy

func (t *Tracker) answer(r content.ToolResponse) {
	at, ok := t.see(seen{ID: r.CallID, Name: r.ToolName})
	if !ok {
		return
	}
	call := t.waiting[at] // the zero value if it is not about tasks
	delete(t.waiting, at)
	if noRules.Failed(call, r) {
		return
	}
	switch call.Name {
	case "TodoWrite", "todo_write", "todowrite", "write_todos":
		t.replace(call.Parameters, "todos")
	case "update_plan":
		t.replace(call.Parameters, "plan")
	case "TaskCreate":
		t.create(call.Parameters, createdID(r.Result))
	case "TaskUpdate":
		t.update(call.Parameters)
	}
}

// replace replaces the list, unless parameters have none.
func (t *Tracker) replace(parameters []byte, field string) {
	if list, ok := parseList(rawjson.Field(parameters, field), Pending, 1); ok {
		t.list, t.next = list, len(list)
	}
}

// create adds a task. If its id is already in the list, the agent has restarted its numbering, with a new list.
func (t *Tracker) create(parameters []byte, id string) {
	p, _ := parseFields(parameters, "", "subject", "description")
	if p.content == "" {
		return
	}
	switch {
	case id == "":
		id = strconv.Itoa(t.next + 1)
	case t.find(id) >= 0:
		t.list, t.next = nil, 0
	}
	if n, err := strconv.Atoi(id); err == nil && n > t.next && n < 1<<30 {
		t.next = n
	}
	t.list = append(t.list, sdk.Todo{ID: id, Content: p.content, Status: Pending})
	if len(t.list) >= 2*MaxTodos {
		t.list = fit(t.list)
	}
}

// update changes status or content of a task; unknown tasks and statuses change nothing.
func (t *Tracker) update(parameters []byte) {
	p, ok := parseFields(parameters, "taskId", "subject")
	i := t.find(p.id)
	if !ok || i < 0 {
		return
	}
	if p.content != "" {
		t.list[i].Content = p.content
	}
	switch status, known := statusOf(p.status); {
	case !known: // keep the status
	case status == cancelled:
		t.list = slices.Delete(t.list, i, i+1)
	default:
		t.list[i].Status = status
	}
}

// find returns the position of the task with an id; -1 if there is none.
func (t *Tracker) find(id string) int {
	return slices.IndexFunc(t.list, func(todo sdk.Todo) bool { return todo.ID == id })
}
