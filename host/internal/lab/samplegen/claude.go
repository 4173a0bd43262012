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
	// The samples say openly that no model wrote them: a real name here would suggest that they show what that model
	// does.
	claudeModel = "scripted"
	// Without this the first requests of a sample would seem implausibly small, and calibration would learn no overhead
	// from them.
	claudeOverhead = 17_500 // tokens of system prompt and tool schemas, which no log holds
	// Rough on purpose: a tokenizer would make the samples change with its vocabulary.
	bytesPerToken = 3 // the usage figures are estimates by this rule
)

// newCall uses Claude Code's names of tools and arguments. Paths are absolute.
func (claude) newCall(ws *workspace, s step, ids *ids) call {
	c := call{id: ids.token("toolu_01", 22)}
	name, span := splitSpan(s.arg)
	file := ws.shown(name)
	switch s.verb {
	case "read":
		c.name, c.args = "Read", object{"file_path", file}
	// Claude Code reads a range by its first line and a number of lines.
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
	// activeForm is how the agent's program words a running task; it is required, and the text serves for both.
	case "todo":
		var todos []object
		for _, t := range parseTodos(s.body) {
			todos = append(todos, object{"content", t.text, "status", t.status, "activeForm", t.text})
		}
		c.name, c.args = "TodoWrite", object{"todos", todos}
	}
	return c
}

// answer words the result of a call on file as the model reads it. These are the texts that Claude Code sends, because
// strategies and the taxonomy recognise failures by them. file is the path as the agent wrote it.
func (claude) answer(file string, c call) string {
	r := c.result
	switch {
	case c.cancelled():
		return "The user doesn't want to proceed with this tool use. The tool use was rejected and nothing was changed."
	// A failed edit repeats what it looked for, so that the model can see its mistake.
	case r.failure != "" && c.name == "Edit":
		old, _, _ := splitEdit(c.step.body)
		return fmt.Sprintf("<tool_use_error>%s\nString: %s</tool_use_error>", r.failure, old)
	case r.failure != "":
		return "<tool_use_error>" + r.failure + "</tool_use_error>"
	// A command that failed still has its output, which is usually what the model needs.
	case r.exit != 0:
		return strings.TrimSuffix(fmt.Sprintf("Exit code %d\n%s", r.exit, r.text), "\n")
	}
	switch c.name {
	// Only reads have line numbers. Readers of the format must strip them to compare contents.
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

// numbered puts a line number before each line, as cat -n does but with an arrow. The number has at least six columns,
// as in the original, so that the text of all lines is aligned.
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
	buf  bytes.Buffer
	err  error
	id   string // of the session
	last string // uuid of the line that the next one follows
	// context and counted are what a provider would have in its prompt cache: the difference is new since the last
	// request.
	context int // bytes said so far, since the last compaction
	counted int // context at the last message of the agent
	// asked is when the developer last spoke, for the duration of the turn.
	asked time.Time
}

// write returns the session file: the messages in order, the duration of each turn, and a summary line at the end. It
// returns the first error of any line, at the end: what precedes it is thrown away with it.
func (claude) write(s session) ([]byte, error) {
	f := claudeFile{session: s, id: s.ids.uuid()}
	for i, m := range s.messages {
		switch m.role {
		case "user":
			// A turn ends when the developer speaks again; before the first message there is none to end.
			f.endTurn(m.at)
			f.user(m)
		case "ai":
			f.ai(m)
		case "compact":
			f.compact(m)
		// Notices are lines of their own that are no part of the conversation; readers must leave them out.
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
	// The summary is about another line than itself (leafUuid), which makes readers look at more than the last line.
	f.put(object{"type", "summary", "summary", "Work on " + s.project, "leafUuid", f.last})
	return f.buf.Bytes(), f.err
}

// put appends a line. The first error is kept in f.err. Writing to a bytes.Buffer does not fail, so that encoding is
// the only source of errors.
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

// lineAfter appends a line that follows parent in the chain; "" begins a new chain. Fields stand in the order in which
// Claude Code writes them; readers do not depend on it, but a diff against a real file does.
func (f *claudeFile) lineAfter(parent, kind string, at time.Time, fields object) string {
	// null, not "", marks the first line of a chain.
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

// user writes a message of the developer, after the snapshot of files that Claude Code takes first. The snapshot is no
// part of the chain: it has no uuid, and nothing follows it.
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
	// Before the next message, however short the developer's pause was in the story.
	at := next.Add(-4 * time.Second)
	f.line("system", at, object{
		"subtype", "turn_duration", "durationMs", at.Sub(f.asked).Milliseconds(), "isMeta", false,
	})
}

// ai writes a message of the agent, one line per block, then the responses to its calls. Each response follows its
// call, so that responses to parallel calls are siblings in the chain. All lines of one message share its id, from
// which readers join them again, and repeat its usage, which must be counted once.
func (f *claudeFile) ai(m message) {
	var blocks []object
	if m.thought != "" {
		// The signature is empty: only the provider can make one, and thresh carries it unchanged either way.
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
		// Blocks stream in one after the other.
		at := m.at.Add(time.Duration(i) * 300 * time.Millisecond)
		message := object{"model", claudeModel, "id", id, "type", "message", "role", "assistant", "content",
			[]object{b},
			"stop_reason", stop, "stop_sequence", nil, "usage", usage}
		lines[i] = f.line("assistant", at, object{"message", message, "requestId", request})
	}
	for i, c := range m.calls {
		// The calls are the last blocks of the message, in order.
		f.answer(c, lines[len(lines)-len(m.calls)+i])
	}
}

// answer writes the response to a call. Commands with much output have a progress line between call and response.
func (f *claudeFile) answer(c call, asked string) {
	// The progress line sits in the chain although it is no message: a reader that follows the chain must step over it.
	parent := asked
	if c.name == "Bash" && len(c.result.text) > 4000 {
		parent = f.lineAfter(asked, "progress", c.at, object{"toolUseID", c.id, "parentToolUseID", c.id,
			"data", object{"type", "bash_progress", "output", "", "fullOutput", "", "elapsedTimeSeconds", 2,
				"totalLines",
				strings.Count(c.result.text, "\n")}})
	}
	name, _ := splitSpan(c.step.arg)
	// The path is given for all tools; only those that name a file in their answer use it.
	text := claude{}.answer(f.root+"/"+name, c)
	f.context += len(text)
	block := object{"tool_use_id", c.id, "type", "tool_result", "content", text}
	// Claude Code writes is_error always for commands, and otherwise only if it is true.
	if failed := c.result.failed() || c.cancelled(); failed || c.name == "Bash" {
		block = append(block, "is_error", failed)
	}
	fields := object{"message", object{"role", "user", "content", []object{block}}}
	f.lineAfter(parent, "user", c.at, append(fields, "toolUseResult", f.display(c, text), "sourceToolAssistantUUID",
		asked))
}

// display is what the agent shows of a response on its own screen. File contents are left out, because the response
// holds them already. It exists to be ignored by readers of the format: what the model saw is in the message alone.
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
// message was read from the cache. The write to the cache and the read from it follow Anthropic's rule that a request
// reads what the one before it wrote.
func (f *claudeFile) usage(blocks []object) object {
	data, err := encode(blocks)
	if err != nil {
		f.err = err
	}
	cached := claudeOverhead + f.counted/bytesPerToken
	created := (f.context - f.counted) / bytesPerToken
	// The blocks of this message count as new in the next request only.
	f.counted = f.context
	f.context += len(data)
	return object{"input_tokens", 4, "cache_creation_input_tokens", created, "cache_read_input_tokens", cached,
		"output_tokens", len(data)/bytesPerToken + 1, "service_tier", "standard"}
}

// compact writes the agent's own compaction: a boundary that begins a new chain, and the summary as a message. The
// summary is a user's message with isCompactSummary set. The replay must begin a new history there, as the agent did.
func (f *claudeFile) compact(m message) {
	before, tokens := f.last, claudeOverhead+f.context/bytesPerToken
	f.lineAfter("", "system", m.at, object{"logicalParentUuid", before, "subtype", "compact_boundary", "content",
		"Conversation compacted",
		"isMeta", false, "level", "info", "compactMetadata", object{"trigger", "manual", "preTokens", tokens}})
	// After a compaction nothing of the prompt is in the cache but its unchanged head, which claudeOverhead stands for.
	f.context, f.counted = len(m.text), 0
	f.line("user", m.at, object{"message", object{"role", "user", "content", m.text}, "isVisibleInTranscriptOnly", true,
		"isCompactSummary", true})
}
