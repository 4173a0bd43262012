package todos

import (
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// cancelled tasks are removed from the list. The status never leaves this package.
const cancelled = "cancelled"

// statusOf translates an agent's word for a status, ignoring case, hyphens and spaces.
func statusOf(word string) (status string, ok bool) {
	// No status is so long; a hostile text is not copied to find that out.
	if len(word) > 40 {
		return "", false
	}
	switch strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(word))) {
	case "pending", "open", "todo", "not_started", "blocked":
		return Pending, true
	case "in_progress", "inprogress", "active", "doing", "started":
		return InProgress, true
	case "completed", "complete", "done", "finished":
		return Completed, true
	case "cancelled", "canceled", "deleted", "removed", "skipped":
		return cancelled, true
	}
	return "", false
}

// parsed has the fields of a task, or of a tool call about one; missing ones are "".
type parsed struct {
	id, content, status string
	// Raw JSON: parsing depends on the depth.
	subtasks []byte
}

// parseFields reads the fields of an object; ok is false if raw is not one. The content is the first of the fields in
// names that is not blank.
func parseFields(raw []byte, idName string, names ...string) (p parsed, ok bool) {
	best := len(names)
	s := rawjson.New(raw)
	err := s.Object(func(name []byte) error {
		value, err := s.Skip()
		if err != nil {
			return err
		}
		switch string(name) {
		case idName:
			p.id = idOf(value)
			return nil
		case "status":
			p.status, _ = rawjson.Text(value)
			return nil
		case "subtasks":
			p.subtasks = value
			return nil
		}
		// Only names that are better than the one found so far, or the same one again.
		for i, n := range names[:min(best+1, len(names))] {
			if string(name) != n {
				continue
			}
			if text, _ := rawjson.Text(value); strings.TrimSpace(text) != "" {
				best, p.content = i, clip(strings.TrimSpace(text), MaxContent)
			}
			break
		}
		return nil
	})
	return p, err == nil
}

// idOf parses an id, which some agents write as a number, and clips it to maxID; other values are "".
func idOf(raw []byte) string {
	if text, ok := rawjson.Text(raw); ok {
		return clip(text, maxID)
	}
	if kind := rawjson.New(raw).Kind(); kind >= '0' && kind <= '9' {
		return clip(string(raw), maxID)
	}
	return ""
}

// parseList parses a list of tasks; ok is false if raw is not a list, or not empty and without a task. A task without a
// status has its parent's, above. Cancelled tasks are left out. depth is 0 for the agent's own list.
func parseList(raw []byte, above string, depth int) (list []sdk.Todo, ok bool) {
	if text, isText := rawjson.Text(raw); isText {
		raw = []byte(text) // some models send the list as a string of JSON
	}
	found := false
	n := 0
	s := rawjson.New(raw)
	err := s.Array(func(i int) error {
		value, err := s.Skip()
		if err != nil {
			return err
		}
		n = i + 1
		t, isTask := parseTask(value, above, depth)
		if !isTask {
			return nil
		}
		found = true
		if t.Status == cancelled {
			return nil
		}
		// Agents refer to tasks without ids by position, from 1.
		if t.ID == "" {
			t.ID = strconv.Itoa(i + 1)
		}
		// Reduced now and then: a list of a million tasks must not fill the memory.
		if list = append(list, t); len(list) >= 2*MaxTodos {
			list = fit(list)
		}
		return nil
	})
	// A list of other things must not replace a list of tasks. An empty one does: everything is done.
	if err != nil || s.Rest() != nil || n > 0 && !found {
		return nil, false
	}
	return fit(list), true
}

// parseTask parses one task: an object, or text alone. ok is false without content.
func parseTask(raw []byte, above string, depth int) (t sdk.Todo, ok bool) {
	p := parsed{}
	if text, isText := rawjson.Text(raw); isText {
		p.content = clip(strings.TrimSpace(text), MaxContent)
	} else {
		// In order of preference: content is the clearest.
		p, _ = parseFields(raw, "id", "content", "description", "step")
	}
	if p.content == "" {
		return sdk.Todo{}, false
	}
	t = sdk.Todo{ID: p.id, Content: p.content}
	if t.Status, ok = statusOf(p.status); !ok {
		t.Status = Pending // a superfluous task in a summary is better than a missing one
		if p.status == "" {
			t.Status = above
		}
	}
	if p.subtasks != nil && depth < MaxDepth {
		// Deeper ones are left out: no agent has them, and a hostile file could nest without end.
		t.Subtasks, _ = parseList(p.subtasks, t.Status, depth+1)
	}
	return t, true
}

// createdID finds the id of a created task in a tool's answer, in words ("Task #3 created") or an object; else "".
func createdID(result []byte) string {
	if id := idOf(rawjson.Field(rawjson.Field(result, "task"), "id")); id != "" {
		return id
	}
	text, _ := rawjson.Text(result)
	_, rest, _ := strings.Cut(text, "#")
	end := strings.IndexFunc(rest, func(c rune) bool {
		return !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_')
	})
	if end >= 0 {
		rest = rest[:end]
	}
	return clip(rest, maxID)
}
