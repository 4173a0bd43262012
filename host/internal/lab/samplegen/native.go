package main

import (
	"fmt"
	"strings"
)

// native keeps sessions in thresh's own format, with the tool names of the preset llxprt.
type native struct{}

// newCall uses llxprt's tool names with ids in the form of thresh's own importers. The prefix is what thresh's
// importers give to calls that come without an id, so that the samples have both forms.
func (native) newCall(ws *workspace, s step, ids *ids) call {
	c := lxCall(ws, s, "absolute_path", ids)
	c.id = "hist_tool_" + ids.hex(12)
	return c
}

// lxCall uses the names of tools and arguments that Gemini CLI and llxprt share. readKey is the name of read_file's
// path argument, which differs. Some verbs take the path under another name than read_file. This is a property of the
// tools, not a mistake here: presets must know both.
func lxCall(ws *workspace, s step, readKey string, ids *ids) call {
	var c call
	name, span := splitSpan(s.arg)
	file := ws.shown(name)
	switch s.verb {
	case "read":
		c.name, c.args = "read_file", object{readKey, file}
	case "lines":
		c.name, c.args = "read_line_range", object{"absolute_path", file, "start_line", span.from, "end_line", span.to}
	// Paths stay relative here, as the tool accepts both. Strategies must resolve them to see that they name the same
	// files.
	case "many":
		c.name, c.args = "read_many_files", object{"paths", strings.Fields(s.arg)}
	case "write":
		c.name, c.args = "write_file", object{"file_path", file, "content", s.body + "\n"}
	case "edit":
		old, new, _ := splitEdit(s.body) // the tool itself reports a bad body
		c.name, c.args = "replace", object{"file_path", file, "old_string", old, "new_string", new}
	case "insert":
		c.name = "insert_at_line"
		c.args = object{"absolute_path", file, "line_number", span.from, "content", s.body + "\n"}
	case "delete":
		c.name = "delete_line_range"
		c.args = object{"absolute_path", file, "start_line", span.from, "end_line", span.to}
	case "glob":
		c.name, c.args = "glob", object{"pattern", s.arg}
	case "grep":
		pattern, dir := splitGrep(s.arg)
		c.name, c.args = "search_file_content", object{"pattern", pattern}
		if dir != "" {
			// An absent directory means the whole project; an empty text would be another call.
			c.args = append(c.args, "path", dir)
		}
	case "sh":
		command, why := splitWhy(s.arg)
		c.name, c.args = "run_shell_command", object{"command", command, "description", why}
	case "todo":
		var todos []object
		for i, t := range parseTodos(s.body) {
			todos = append(todos, object{"id", fmt.Sprint(i + 1), "content", t.text, "status", t.status})
		}
		c.name, c.args = "todo_write", object{"todos", todos}
	}
	return c
}

// lxAnswer words the result of a call that succeeded, as llxprt does. Failures are worded by the dialects, because the
// two agents report them in different places.
func lxAnswer(root string, c call) string {
	name, span := splitSpan(c.step.arg)
	file := root + "/" + name
	switch r := c.result; c.name {
	case "write_file":
		if r.isNew {
			return "Successfully created and wrote to new file: " + file + "."
		}
		return "Successfully overwrote file: " + file + "."
	case "replace":
		return "Successfully modified file: " + file + " (1 replacements)."
	case "insert_at_line":
		return fmt.Sprintf("Successfully inserted %d lines at line %d of %s.", strings.Count(c.step.body, "\n")+1,
			span.from, file)
	case "delete_line_range":
		return fmt.Sprintf("Successfully deleted lines %d to %d of %s.", span.from, span.to, file)
	case "search_file_content":
		if r.total == 0 {
			return "No matches found."
		}
		return fmt.Sprintf("Found %d matches:\n%s", r.total, r.text)
	case "glob":
		return fmt.Sprintf("Found %d files:\n%s", r.total, r.text)
	case "todo_write", "write_todos":
		var b strings.Builder
		b.WriteString("The list is now:")
		for i, t := range parseTodos(c.step.body) {
			fmt.Fprintf(&b, "\n%d. [%s] %s", i+1, t.status, t.text)
		}
		return b.String()
	default:
		return r.text
	}
}

// write returns the session file: each message is an entry, followed by one entry per response, in the order in which
// the answers arrived. The format has no place for compactions and notices. The loop ends with the responses of one
// message before the next message begins, so that pairs are adjacent, as the format asks.
func (n native) write(s session) ([]byte, error) {
	var entries []object
	// The time is in the metadata, where the native form keeps all that it does not interpret.
	add := func(speaker string, m message, blocks []object) {
		entries = append(entries, object{
			"speaker", speaker, "blocks", blocks, "metadata", object{"timestamp", stamp(m.at)},
		})
	}
	for i, m := range s.messages {
		var said, answered []object
		if m.thought != "" {
			said = append(said, object{"type", "thinking", "thought", m.thought})
		}
		if m.text != "" {
			said = append(said, object{"type", "text", "text", m.text})
		}
		for _, c := range m.calls {
			said = append(said, object{"type", "tool_call", "id", c.id, "name", c.name, "parameters", c.args})
			answered = append(answered, n.response(s.root, c))
		}
		switch m.role {
		case "user":
			add("human", m, said)
		case "ai":
			add("ai", m, said)
		default:
			return nil, fmt.Errorf("message %d: no place for role %q", i, m.role)
		}
		for j, block := range answered { // an entry for each answer, as they arrive
			m.at = m.calls[j].at
			add("tool", m, []object{block})
		}
	}
	return lineFile(nil, "history", entries)
}

// response is the block that answers a call. A command that ran and failed has its output as the result and an error
// too. A result and an error together are the native form of a failed command: the error marks the failure, the result
// keeps the output.
func (native) response(root string, c call) object {
	o := object{"type", "tool_response", "callId", c.id, "toolName", c.name}
	switch r := c.result; {
	case c.cancelled():
		return append(o, "result", "", "error", "The user refused this call.")
	case r.failure != "":
		return append(o, "result", "", "error", r.failure)
	case r.exit != 0:
		return append(o, "result", r.text, "error", fmt.Sprintf("Command exited with code %d", r.exit))
	default:
		return append(o, "result", lxAnswer(root, c))
	}
}
