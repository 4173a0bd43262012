package transcript

import (
	"cmp"
	"hash/maphash"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// isClaudeBookkeeping reports whether a record type never holds conversation. Such records are most of a file's bytes:
// "progress" repeats what sub-agents and hooks print, "file-history-snapshot" holds copies of files. A type that is
// missing here is reported as unknown, and nothing else happens.
var isClaudeBookkeeping = nameIn("progress", "file-history-snapshot", "queue-operation", "summary", "pr-link",
	"last-prompt", "custom-title", "ai-title", "agent-name", "permission-mode", "mode", "worktree-state")

// isClaudeField reports whether a field of user and assistant records is known. The first group is read. The second
// holds no conversation: where and how the session ran, and what the screen shows. toolUseResult is a copy of the
// result plus the whole file before and after an edit, which the model never saw.
var isClaudeField = nameIn("type", "message", "attachment", "uuid", "timestamp", "sessionId", "isSidechain", "isMeta",
	"isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage", "parentUuid", "logicalParentUuid",
	"userType", "cwd", "version", "gitBranch", "slug", "requestId", "permissionMode", "toolUseResult", "forkedFrom",
	"sourceToolAssistantUUID", "sourceToolUseID", "todos", "thinkingMetadata")

var isClaudeMessageField = nameIn("id", "type", "role", "model", "content", "usage", "stop_reason", "stop_sequence")

// isClaudeRecord reports whether a record of type t is Claude Code's. Its types are common words that other agents use
// too, so a second field has to agree if there is one.
func isClaudeRecord(t string, o ordered.Object) bool {
	switch {
	// Lists of messages in other formats have the role in front, not the type, and no nested message.
	case t == "user" || t == "assistant":
		return ordered.Kind(o.Raw("message")) == '{'
	case t == "system":
		return o.Has("subtype")
	case t == "summary":
		return o.Has("leafUuid")
	case t == "attachment":
		return ordered.Kind(o.Raw("attachment")) == '{'
	default:
		return isClaudeBookkeeping(t)
	}
}

// claudeCode reads a session of Claude Code.
//
// A line is one block of a message, in a record about it:
//
//	{"type": "assistant", "uuid": "…", "parentUuid": "…", "sessionId": "…", "timestamp": "…", "cwd": "/w",
//	 "message": {"id": "msg_1", "role": "assistant", "model": "m", "content": [{"type": "tool_use", …}], "usage": {…}}}
//	{"type": "user", "uuid": "…", "message": {"role": "user", "content": [{"type": "tool_result", …}]},
//	 "toolUseResult": {…}}
//	{"type": "attachment", "uuid": "…", "attachment": {"type": "edited_text_file", "filename": "a.go", "snippet": "…"}}
//	{"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", "preTokens": 155000}}
//
// The form was learnt from published sessions of several versions, and from sessions recorded with the agent.
//
// Records are in the order of the conversation. The chain of parentUuid is not followed: it branches where results
// arrive in parallel, and walking from the last record to the first would lose all branches but one. Parents may also
// be bookkeeping records, or be in the file of an earlier session. It only tells which branches were rewound: see
// claudeBranches.
type claudeCode struct {
	main *claudeThread
	// side holds messages of sub-agents recorded inline (isSidechain), as older versions do. The main agent's model
	// never saw them, so they are not merged into the conversation. A file with nothing else is the transcript of a
	// sub-agent.
	side      *claudeThread
	sideLines int
	branches  claudeBranches
	// seed makes the hash unpredictable: a file cannot be made to collide.
	seed maphash.Seed
}

// claudeThread is one conversation while it is read: the main agent's, or the sub-agents'.
type claudeThread struct {
	b    *builder
	open map[string]int  // message.id → entry, since the last compaction
	old  map[string]bool // the ids of messages that began before it; their usage is counted already
}

// newClaude gives the side thread a builder of its own, because its entries are used only if the main thread is empty.
func newClaude(b *builder) lineReader {
	return &claudeCode{
		main:     newThread(b),
		side:     newThread(newBuilder()),
		branches: claudeBranches{index: map[string]int{}}, seed: maphash.MakeSeed(),
	}
}

func newThread(b *builder) *claudeThread {
	return &claudeThread{b: b, open: map[string]int{}, old: map[string]bool{}}
}

// forget is called at a compaction. A message with lines on both sides of it becomes two entries: extending the first
// would put what the model said afterwards into the context from before.
func (c *claudeThread) forget() {
	// Usage of a message that continues after the compaction was counted with its first part.
	for id := range c.open {
		c.old[id] = id != "" // a message without an id is separate
	}
	clear(c.open)
}

func (c *claudeCode) record(r record) error {
	b := c.main.b
	// The first id counts: a resumed session has records of the session before in front.
	b.t.ID = cmp.Or(b.t.ID, r.Text("sessionId"))
	b.t.workedIn(r.Text("cwd"))
	node := c.branches.add(r)
	defer c.branches.made(node, b)
	switch t := r.Text("type"); {
	case t == "user" || t == "assistant":
		return c.message(r, node, t, "message")
	case t == "attachment":
		return c.message(r, node, t, t)
	case t == "system":
		c.system(r)
	case isClaudeBookkeeping(t):
		b.aside(r.line, "record of type "+t)
	default:
		b.unknown(r.line, "record of the unknown type "+ordered.Clip([]byte(t)), r.whole)
	}
	return nil
}

// system reads events of the conversation. A microcompaction names results that were cleared from the context. The file
// still has them in full, so the history keeps them: replaying it shows what pruning would do.
func (c *claudeCode) system(r record) {
	b := c.main.b
	switch sub := r.Text("subtype"); sub {
	case BoundaryCompact:
		b.boundary(sub, r.Copy("compactMetadata"))
		c.main.forget()
	case BoundaryMicrocompact:
		b.boundary(sub, r.Copy("microcompactMetadata"))
	default:
		b.aside(r.line, "record of type system/"+ordered.Clip([]byte(sub)))
	}
}

// message reads one line of a user or assistant message. A resumed session starts with copies of earlier records; those
// are dropped by uuid and content. The hash saves memory: keeping the messages would hold the file twice.
func (c *claudeCode) message(r record, node int, t, field string) error {
	b := c.main.b
	message := r.Object.Object(field)
	if message == nil {
		return failAt(r.line, ErrMalformed, "a record of type %s has no %s object", t, field)
	}
	if node != noNode {
		// By uuid alone something could be lost.
		hash, n := maphash.Bytes(c.seed, r.Raw(field)), &c.branches.nodes[node]
		if n.hash == hash {
			b.tally.Routine(r.line, -1, "record that repeats an earlier one (same uuid and message) left out")
			return nil
		}
		n.hash = hash
	}
	b.unread(r.line, "a record of type "+t, r.Object, isClaudeField)
	if field == "message" {
		b.unread(r.line, "the message in a record of type "+t, message, isClaudeMessageField)
	}
	thread := c.main
	if r.True("isSidechain") {
		thread = c.side
		c.sideLines++
	}
	switch t {
	case "assistant":
		thread.assistant(r, message)
	case "user":
		thread.user(r, message)
	default:
		thread.attachment(r, message)
	}
	return nil
}

// assistant reads one line of a message of the model. One API message is spread over several lines with the same
// message.id, one block each, and results of its first calls may come between them. The lines become one entry, because
// providers want all calls of one message together and a replay must not see several requests.
//
// The entry keeps the timestamp of its first line, but usage and model of its last: output tokens are complete only
// there.
func (c *claudeThread) assistant(r record, message ordered.Object) {
	blocks := c.b.messageContent(r.line, message.Raw("content")).Blocks
	var meta ordered.Builder
	id := message.Text("id")
	entry, merge := c.open[id]
	if merge = merge && id != ""; merge {
		meta.Raw("timestamp", ordered.Of(c.b.Entries[entry].Metadata).Raw("timestamp"))
	} else {
		meta.Raw("timestamp", r.Raw("timestamp"))
	}
	meta.Raw("model", message.Raw("model"))
	if !c.old[id] { // every line of a message repeats its usage, which must count once
		meta.Raw("usage", message.Raw("usage"))
	}
	if sent := r.Text("requestId"); id != "" && sent != "" {
		meta.Text(fieldRequest, id+" "+sent) // gateways make up ids that are not unique
	}
	meta.Flag("isApiErrorMessage", r.True("isApiErrorMessage"))
	meta.Flag(fromFork, r.Has("forkedFrom"))
	if merge {
		c.b.Extend(entry, blocks)
		c.b.Entries[entry].Metadata = meta.JSON()
		return
	}
	c.open[id] = c.b.Add(r.line, content.Content{Speaker: content.AI, Blocks: blocks, Metadata: meta.JSON()})
}

// user reads a line of what was sent to the model: a person's input, tool results, the summary after a compaction, and
// what the agent inserted (isMeta). isVisibleInTranscriptOnly on other lines is kept as metadata, since the model may
// not have seen them.
func (c *claudeThread) user(r record, message ordered.Object) {
	var meta ordered.Builder
	meta.Raw("timestamp", r.Raw("timestamp"))
	meta.Flag("isMeta", r.True("isMeta"))
	meta.Flag("isSummary", r.True("isCompactSummary"))
	meta.Flag("isVisibleInTranscriptOnly", r.True("isVisibleInTranscriptOnly") && !r.True("isCompactSummary"))
	meta.Flag(fromFork, r.Has("forkedFrom"))
	c.b.UserEntries(r.line, c.b.messageContent(r.line, message.Raw("content")), content.Content{Metadata: meta.JSON()})
}

// end decides what the sub-agents' lines are: all of the conversation, or something to be left out with a remark.
func (c *claudeCode) end() error {
	b := c.main.b
	c.branches.leaveOut(b)
	switch side := c.side.b; {
	case c.sideLines == 0:
	case len(b.Entries) == 0:
		b.Entries, b.Lines = side.Entries, side.Lines
		b.note(0, -1, "every message is a sub-agent's (isSidechain): this is the transcript of a sub-agent")
	default:
		b.remark(
			side.Lines[0], -1, "%d × message of a sub-agent (isSidechain) left out (the first is here)",
			c.sideLines,
		)
	}
	// In either case: a broken record is worth a note even in what was left out.
	b.t.Notes = append(b.t.Notes, c.side.b.t.Notes...)
	if len(b.Entries) == 0 {
		return fail(ErrEmpty, "it is a Claude Code session without any message")
	}
	return nil
}
