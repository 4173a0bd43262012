package main

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// gemini keeps sessions as Gemini CLI does: one JSON object, in which a message holds its calls together with their
// responses.
type gemini struct{}

const (
	// As for [claudeModel]: no model wrote these.
	geminiModel    = "scripted"
	geminiOverhead = 12_000 // tokens of system prompt and tool schemas
)

// newCall uses the tool names that Gemini CLI and llxprt share, with ids in Gemini CLI's form. The id begins with the
// tool's name, as in Gemini CLI. It is replaced here, because [lxCall] gives none.
func (gemini) newCall(ws *workspace, s step, ids *ids) call {
	c := lxCall(ws, s, "file_path", ids)
	if s.verb == "todo" {
		var todos []object
		for _, t := range parseTodos(s.body) {
			todos = append(todos, object{"description", t.text, "status", t.status})
		}
		c.name, c.args = "write_todos", object{"todos", todos}
	}
	c.id = c.name + "-" + ids.hex(13) + "-" + ids.hex(13)
	return c
}

// answer words the result of a call. kind is output or error. Gemini keeps a failure in the response itself, under
// another key, rather than in a flag.
func (gemini) answer(root string, c call) (kind, text string) {
	r := c.result
	switch {
	case c.cancelled():
		return "error", "[Operation Cancelled] Reason: User cancelled the operation."
	case r.failure != "" && c.name == "replace":
		return "error", "Failed to edit, could not find the string to replace: " + r.failure
	case r.failure != "":
		return "error", r.failure
	// The whole report is one text, failed or not, so that readers can tell a failed command only by its "Exit Code"
	// line.
	case c.name == "run_shell_command":
		command, _ := splitWhy(c.step.arg)
		out := r.text
		if out == "" {
			out = "(empty)"
		}
		return "output", fmt.Sprintf("Command: %s\nDirectory: (root)\nOutput: %s\nError: (none)\nExit Code: "+
			"%d\nSignal: "+
			"(none)\nBackground PIDs: (none)", command, out, r.exit)
	}
	return "output", lxAnswer(root, c)
}

// write returns the session file. It fails for a compaction, for which the format has no place. The last fields of a
// message (tokens, model) come after the calls, as the recorder adds them when the answer is complete.
func (g gemini) write(s session) ([]byte, error) {
	if len(s.messages) == 0 {
		return nil, fmt.Errorf("a session without messages")
	}
	var messages []object
	// said grows with each message; sent is what the provider's cache can hold of the next request.
	said, sent := 0, 0 // bytes of the conversation; tokens of the last request
	for i, m := range s.messages {
		// The recorder gives messages ids that nothing refers to.
		o := object{"id", s.ids.uuid(), "timestamp", stamp(m.at)}
		switch m.role {
		case "user", "info":
			said += len(m.text)
			o = append(o, "type", m.role, "content", m.text)
		case "ai":
			// Responses are in the message of the calls, not in one of their own. Readers must split them off.
			calls, asked, answered, err := g.calls(s.root, m)
			if err != nil {
				return nil, err
			}
			// Answers of tools reach the model with the next request, so they count to the input of that one. Tokens
			// are estimated from bytes, as no provider counted.
			input, output := geminiOverhead+said/bytesPerToken, (len(m.text)+asked)/bytesPerToken
			thought := len(m.thought) / bytesPerToken
			o = append(o, "type", "gemini", "content", m.text)
			if len(calls) > 0 {
				o = append(o, "toolCalls", calls)
			}
			o = append(o, "thoughts", thoughts(m), "model", geminiModel, "tokens",
				object{"input", input, "output", output,
					"cached", sent, "thoughts", thought, "tool", 0, "total", input + output + thought})
			said += len(m.text) + asked + answered
			sent = input
		default:
			return nil, fmt.Errorf("message %d: no place for role %q", i, m.role)
		}
		messages = append(messages, o)
	}
	first, last := s.messages[0].at, s.messages[len(s.messages)-1].at
	head := object{"sessionId", s.ids.uuid(), "projectHash", fmt.Sprintf("%x", sha256.Sum256([]byte(s.root))),
		"startTime", stamp(first), "lastUpdated", stamp(last)}
	return lineFile(head, "messages", messages)
}

// calls returns a message's calls with their responses, and the bytes of both.
func (g gemini) calls(root string, m message) (calls []object, asked, answered int, err error) {
	for _, c := range m.calls {
		args, err := encode(c.args)
		if err != nil {
			return nil, 0, 0, err
		}
		kind, text := g.answer(root, c)
		asked, answered = asked+len(args), answered+len(text)
		response := object{"functionResponse", object{"id", c.id, "name", c.name, "response", object{kind, text}}}
		calls = append(calls, object{"id", c.id, "name", c.name, "args", c.args, "result", []object{response},
			"status", c.status(), "timestamp", stamp(c.at), "resultDisplay", ""})
	}
	return calls, asked, answered, nil
}

// status is that of the tool itself: a command that exits with an error was still run successfully. Gemini CLI shows it
// as a mark next to the call. Whether the command did what it should is not its concern.
func (c call) status() string {
	switch {
	case c.cancelled():
		return "cancelled"
	case c.result.failure != "":
		return "error"
	}
	return "success"
}

// thoughts splits a thought "Subject: description". A thought has a short title in this format. Stories write it in
// front of a colon; a thought without one gets a title that says nothing.
func thoughts(m message) []object {
	if m.thought == "" {
		return []object{}
	}
	subject, description, ok := strings.Cut(m.thought, ": ")
	if !ok {
		subject, description = "Thinking", m.thought
	}
	return []object{{"subject", subject, "description", description, "timestamp", stamp(m.at)}}
}

// lineFile writes {head…, "<name>": [items]} with one item a line, so that a diff of two versions can be read. The
// result is one JSON document all the same: no reader needs to know about the lines.
func lineFile(head object, name string, items []object) ([]byte, error) {
	data, err := encode(head)
	if err != nil {
		return nil, err
	}
	// Without the closing brace, which is written after the list.
	out := data[:len(data)-1]
	if len(head) > 0 {
		out = append(out, ',')
	}
	out = fmt.Appendf(out, "%q:[\n", name)
	for i, item := range items {
		line, err := encode(item)
		if err != nil {
			return nil, err
		}
		out = append(out, line...)
		if i < len(items)-1 {
			out = append(out, ',')
		}
		out = append(out, '\n')
	}
	return append(out, "]}\n"...), nil
}
