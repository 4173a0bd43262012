package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// claude keeps sessions as Claude Code does: JSON lines, one per content block, with tool results as lines of the
// user.
type claude struct{}

// Figures for the usage that the samples report. No provider was called, so usage is estimated from bytes.
const (
	claudeModel    = "scripted"
	claudeOverhead = 17_500 // tokens of system prompt and tool schemas, which no log holds
	bytesPerToken  = 3      // the usage figures are estimates by this rule
)

// newCall uses Claude Code's names of tools and arguments. Paths are absolute.
func (claude) newCall(ws *workspace, s step, ids *ids) call {
	c := call{id: ids.token("toolu_01", 22)}
	name, span := splitSpan(s.arg)
	file := ws.shown(name)
	switch s.verb {
	case "read":
		c.name, c.args = "Read", object{"file_path", file}
	case "lines":
		c.name, c.args = "Read", object{"file_path", file, "offset", span.from, "limit", span.to - span.from + 1}
	case "write":
		c.name, c.args = "Write", object{"file_path", file, "content", s.body + "\n"}
	case "edit":
		old, new, _ := splitEdit(s.body) // the tool itself reports a bad body
		c.name, c.args = "Edit", object{"file_path", file, "old_string", old, "new_string", new}
	case "glob":
		c.name, c.args = "Glob", object{"pattern", s.arg}
	case "grep":
		pattern, dir := splitGrep(s.arg)
		c.name, c.args = "Grep", object{"pattern", pattern, "path", strings.TrimSuffix(ws.shown(dir), "/"),
			"output_mode",
			"content", "-n", true}
	case "sh":
		command, why := splitWhy(s.arg)
		c.name, c.args = "Bash", object{"command", command, "description", why}
	case "todo":
		var todos []object
		for _, t := range parseTodos(s.body) {
			todos = append(todos, object{"content", t.text, "status", t.status, "activeForm", t.text})
		}
		c.name, c.args = "TodoWrite", object{"todos", todos}
	}
	return c
}

// answer words the result of a call on file as the model reads it.
func (claude) answer(file string, c call) string {
	r := c.result
	switch {
	case c.cancelled():
		return "The user doesn't want to proceed with this tool use. The tool use was rejected and nothing was changed."
	case r.failure != "" && c.name == "Edit":
		old, _, _ := splitEdit(c.step.body)
		return fmt.Sprintf("<tool_use_error>%s\nString: %s</tool_use_error>", r.failure, old)
	case r.failure != "":
		return "<tool_use_error>" + r.failure + "</tool_use_error>"
	case r.exit != 0:
		return strings.TrimSuffix(fmt.Sprintf("Exit code %d\n%s", r.exit, r.text), "\n")
	}
	switch c.name {
	case "Read":
		return numbered(r.text, r.first)
	case "Write":
		if r.isNew {
			return "File created successfully at: " + file
		}
		return "The file " + file + " has been updated successfully."
	case "Edit":
		return "The file " + file + " has been updated successfully."
	case "Grep":
		if r.total == 0 {
			return "No matches found"
		}
	case "Glob":
		if r.total == 0 {
			return "No files found"
		}
	case "TodoWrite":
		return "Todos have been modified successfully."
	}
	return r.text
}

// numbered puts a line number before each line, as cat -n does but with an arrow.
func numbered(text string, first int) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%6d→%s", first+i, line)
	}
	return b.String()
}

// claudeFile is a session file in progress. Its lines form a chain by parent uuid, which readers follow.
type claudeFile struct {
	session
	buf     bytes.Buffer
	err     error
	id      string // of the session
	last    string // uuid of the line that the next one follows
	context int    // bytes said so far, since the last compaction
	counted int    // context at the last message of the agent
	asked   time.Time
}

// write returns the session file: the messages in order, the duration of each turn, and a summary line at the end.
func (claude) write(s session) ([]byte, error) {
	f := claudeFile{session: s, id: s.ids.uuid()}
	for i, m := range s.messages {
		switch m.role {
		case "user":
			f.endTurn(m.at)
			f.user(m)
		case "ai":
			f.ai(m)
		case "compact":
			f.compact(m)
		case "info":
			f.line("system", m.at, object{
				"subtype", "local_command", "content", m.text, "level", "info", "isMeta", false,
			})
		default:
			return nil, fmt.Errorf("message %d: unknown role %q", i, m.role)
		}
	}
	if n := len(s.messages); n > 0 {
		f.endTurn(s.messages[n-1].at.Add(5 * time.Second))
	}
	f.put(object{"type", "summary", "summary", "Work on " + s.project, "leafUuid", f.last})
	return f.buf.Bytes(), f.err
}

// put appends a line. The first error is kept in f.err.
func (f *claudeFile) put(o object) {
	data, err := encode(o)
	if err != nil {
		f.err = err
	}
	f.buf.Write(append(data, '\n'))
}

// line appends a line that follows the last one in the chain, and returns its uuid.
func (f *claudeFile) line(kind string, at time.Time, fields object) string {
	return f.lineAfter(f.last, kind, at, fields)
}

// lineAfter appends a line that follows parent in the chain; "" begins a new chain.
func (f *claudeFile) lineAfter(parent, kind string, at time.Time, fields object) string {
	var parentID any
	if parent != "" {
		parentID = parent
	}
	f.last = f.ids.uuid()
	o := object{"parentUuid", parentID, "isSidechain", false, "userType", "external", "cwd", f.root, "sessionId", f.id,
		"version", "2.1.40", "gitBranch", "main", "type", kind}
	f.put(append(append(o, fields...), "uuid", f.last, "timestamp", stamp(at)))
	return f.last
}

// user writes a message of the developer, after the snapshot of files that Claude Code takes first.
func (f *claudeFile) user(m message) {
	messageID := f.ids.uuid()
	f.put(object{"type", "file-history-snapshot", "messageId", messageID,
		"snapshot", object{"messageId", messageID, "trackedFileBackups", object{}, "timestamp",
			stamp(m.at)}, "isSnapshotUpdate", false})
	f.context += len(m.text)
	f.line("user", m.at, object{"message", object{"role", "user", "content", m.text}})
	f.asked = m.at
}

// endTurn writes how long the agent worked since the developer last spoke.
func (f *claudeFile) endTurn(next time.Time) {
	if f.last == "" {
		return
	}
	at := next.Add(-4 * time.Second)
	f.line("system", at, object{
		"subtype", "turn_duration", "durationMs", at.Sub(f.asked).Milliseconds(), "isMeta", false,
	})
}

// ai writes a message of the agent, one line per block, then the responses to its calls. Each response follows its
// call, so that responses to parallel calls are siblings in the chain.
func (f *claudeFile) ai(m message) {
	var blocks []object
	if m.thought != "" {
		blocks = append(blocks, object{"type", "thinking", "thinking", m.thought, "signature", ""})
	}
	if m.text != "" {
		blocks = append(blocks, object{"type", "text", "text", m.text})
	}
	for _, c := range m.calls {
		blocks = append(blocks, object{"type", "tool_use", "id", c.id, "name", c.name, "input", c.args})
	}
	usage := f.usage(blocks)
	id, request := f.ids.token("msg_01", 22), f.ids.token("req_011", 21)
	stop := "end_turn"
	if len(m.calls) > 0 {
		stop = "tool_use"
	}
	lines := make([]string, len(blocks))
	for i, b := range blocks {
		at := m.at.Add(time.Duration(i) * 300 * time.Millisecond)
		message := object{"model", claudeModel, "id", id, "type", "message", "role", "assistant", "content",
			[]object{b},
			"stop_reason", stop, "stop_sequence", nil, "usage", usage}
		lines[i] = f.line("assistant", at, object{"message", message, "requestId", request})
	}
	for i, c := range m.calls {
		f.answer(c, lines[len(lines)-len(m.calls)+i])
	}
}

// answer writes the response to a call. Commands with much output have a progress line between call and response.
func (f *claudeFile) answer(c call, asked string) {
	parent := asked
	if c.name == "Bash" && len(c.result.text) > 4000 {
		parent = f.lineAfter(asked, "progress", c.at, object{"toolUseID", c.id, "parentToolUseID", c.id,
			"data", object{"type", "bash_progress", "output", "", "fullOutput", "", "elapsedTimeSeconds", 2,
				"totalLines",
				strings.Count(c.result.text, "\n")}})
	}
	name, _ := splitSpan(c.step.arg)
	text := claude{}.answer(f.root+"/"+name, c)
	f.context += len(text)
	block := object{"tool_use_id", c.id, "type", "tool_result", "content", text}
	if failed := c.result.failed() || c.cancelled(); failed || c.name == "Bash" {
		block = append(block, "is_error", failed)
	}
	fields := object{"message", object{"role", "user", "content", []object{block}}}
	f.lineAfter(parent, "user", c.at, append(fields, "toolUseResult", f.display(c, text), "sourceToolAssistantUUID",
		asked))
}

// display is what the agent shows of a response on its own screen. File contents are left out, because the response
// holds them already.
func (f *claudeFile) display(c call, text string) any {
	name, _ := splitSpan(c.step.arg)
	file := f.root + "/" + name
	switch {
	case c.cancelled():
		return "User rejected tool use"
	case c.result.failed():
		return "Error: " + text
	}
	switch c.name {
	case "Read":
		n := strings.Count(text, "\n") + 1
		return object{"type", "text", "file", object{"filePath", file, "numLines", n, "startLine", c.result.first,
			"totalLines", c.result.total}}
	case "Bash":
		return object{"stdout", c.result.text, "stderr", "", "interrupted", false, "isImage", false}
	case "Grep", "Glob":
		return object{"mode", "content", "numLines", c.result.total}
	case "TodoWrite":
		return c.args
	default:
		return object{"filePath", file, "userModified", false}
	}
}

// usage estimates what a provider would have reported for a message with these blocks: everything up to the preceding
// message was read from the cache.
func (f *claudeFile) usage(blocks []object) object {
	data, err := encode(blocks)
	if err != nil {
		f.err = err
	}
	cached := claudeOverhead + f.counted/bytesPerToken
	created := (f.context - f.counted) / bytesPerToken
	f.counted = f.context
	f.context += len(data)
	return object{"input_tokens", 4, "cache_creation_input_tokens", created, "cache_read_input_tokens", cached,
		"output_tokens", len(data)/bytesPerToken + 1, "service_tier", "standard"}
}

// compact writes the agent's own compaction: a boundary that begins a new chain, and the summary as a message.
func (f *claudeFile) compact(m message) {
	before, tokens := f.last, claudeOverhead+f.context/bytesPerToken
	f.lineAfter("", "system", m.at, object{"logicalParentUuid", before, "subtype", "compact_boundary", "content",
		"Conversation compacted",
		"isMeta", false, "level", "info", "compactMetadata", object{"trigger", "manual", "preTokens", tokens}})
	f.context, f.counted = len(m.text), 0
	f.line("user", m.at, object{"message", object{"role", "user", "content", m.text}, "isVisibleInTranscriptOnly", true,
		"isCompactSummary", true})
}
