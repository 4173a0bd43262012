package transcript

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// isOpenCodeExport reports whether first, an element of a list of messages, belongs to a session of opencode.
func isOpenCodeExport(first object) bool {
	return first.object("info").has("role") && kind(first.raw("parts")) == '['
}

// isOpenCodeEvent reports whether a record of type t is an event of opencode's bus, or printed by "opencode run
// --format json".
func isOpenCodeEvent(t string, o object) bool {
	bus := strings.HasPrefix(t, "message.") || strings.HasPrefix(t, "session.") || strings.HasPrefix(t, "server.")
	printed := o.has("sessionID") && strings.HasPrefix(o.object("part").text("messageID"), "msg_")
	return bus && o.has("properties") || printed
}

// openCode reads a session of opencode. A call and its result are one part:
//
//	{"info": {"id": "msg_2", "role": "assistant", "modelID": "m", "time": {"created": 1}},
//	 "parts": [{"type": "step-start"}, {"type": "text", "text": "I read"},
//	  {"type": "tool", "callID": "c1", "tool": "read", "state": {"status": "completed", "input": {…}, "output": "…"}},
//	  {"type": "step-finish", "tokens": {"input": 9, "output": 7, "cache": {"read": 30, "write": 5}}}]}
//
// "opencode export" prints a document with a list of these, and the database and the older folders are converted to one
// first. Its event bus, and "opencode run --format json", name a message or a part per line. They repeat the parts of a
// message as they grow, so the whole session is read first.
//
// One message can hold several requests: "step-finish" ends each, and has its usage; the part of the prompt that was
// cached is not in "input".
//
// Left out are steps, snapshots and patches of files, which the model never saw; sub-agents, which have sessions of
// their own; and what the person took back. The reader was written after sessions recorded with opencode in all these
// forms.
type openCode struct {
	speech
	session  string // of the events: those of sub-agents are in the same stream
	messages []*openCodeMessage
	byID     map[string]*openCodeMessage
	// again: a compaction repeats the messages that are added, whose usage is counted already.
	again bool
}

// openCodeMessage is one message, with copies of its texts. line is where it was named first; a later event replaces
// info.
type openCodeMessage struct {
	line  int
	info  object
	parts []object
	byID  map[string]int // of the parts of an event stream, by their ids
}

func (m *openCodeMessage) size() int {
	n := m.info.size()
	for _, p := range m.parts {
		n += p.size()
	}
	return n
}

func newOpenCode(b *builder) *openCode {
	return &openCode{speech: newSpeech(b), byID: map[string]*openCodeMessage{}}
}

func readOpenCode(b *builder, d *document) error {
	b.t.Format = OpenCode
	o := newOpenCode(b)
	info := d.top.object("info")
	b.t.ID = info.text("id")
	b.t.workedIn(info.text("directory"))
	b.otherFields(d.top, nameIn("info", "messages"))
	// What the person took back is left out of the next request, and deleted when it is sent.
	revert := info.object("revert").text("messageID")
	taken := 0
	err := d.each("messages", func(_, line int, raw []byte) error {
		m := openCodeMessage{line: line, info: asObject(raw).object("info")}
		list, _ := elements(asObject(raw).raw("parts"))
		for _, part := range list {
			m.parts = append(m.parts, asObject(part))
		}
		if taken > 0 || revert != "" && m.info.text("id") == revert {
			taken++
			return nil
		}
		o.messages = append(o.messages, &m)
		return nil
	})
	if err != nil {
		return err
	}
	if taken > 0 {
		b.remark(0, -1, "%d × message that was taken back left out", taken)
	}
	return o.end()
}

// record reads one event. The last state of a message and of a part counts.
func (c *openCode) record(r record) error {
	// The line's buffer is reused, and events are kept until the end.
	r.whole = bytes.Clone(r.whole)
	o := asObject(r.whole)
	part, info := o.object("part"), object(nil)
	// The bus has the event in "properties", "run" has the part in "part".
	switch t := r.text("type"); {
	case t == "message.updated":
		info = o.object("properties").object("info")
	case t == "message.part.updated":
		part = o.object("properties").object("part")
	case part != nil:
	default:
		c.b.aside(r.line, "event "+clip([]byte(t)))
		return nil
	}
	session := cmp.Or(info.text("sessionID"), part.text("sessionID"))
	if c.session = cmp.Or(c.session, session); session != c.session {
		c.b.tally.routine(r.line, -1, "event of another session, such as a sub-agent's, left out")
		return nil
	}
	m := c.message(r.line, cmp.Or(info.text("id"), part.text("messageID")))
	if info != nil {
		m.info = info
		return nil
	}
	// A part that is named again has grown: "running" becomes "completed", and a text gets longer.
	id := part.text("id")
	if i, ok := m.byID[id]; ok && id != "" {
		m.parts[i] = part
		return nil
	}
	if m.byID == nil {
		m.byID = map[string]int{}
	}
	m.byID[id] = len(m.parts)
	m.parts = append(m.parts, part)
	return nil
}

func (c *openCode) message(line int, id string) *openCodeMessage {
	m, ok := c.byID[id]
	if !ok {
		m = &openCodeMessage{line: line}
		c.byID[id] = m
		c.messages = append(c.messages, m)
	}
	return m
}

func (c *openCode) end() error {
	// Only now, when the last state of every message is known.
	c.b.t.ID = cmp.Or(c.b.t.ID, c.session)
	for i, m := range c.messages {
		c.b.t.workedIn(m.info.object("path").text("cwd"))
		// The first message cannot be a summary of anything, however it is marked.
		if m.info.isTrue("summary") && i > 0 {
			c.compacted(i)
			continue
		}
		c.add(m)
	}
	return nil
}

// compacted reads the summary at position i: the context continues with it, and with the kept messages. The message
// before it asked for the summary, and names the first of those.
func (c *openCode) compacted(i int) {
	c.pause()
	c.b.boundary(BoundaryCompaction, nil)
	meta := c.stamped(c.messages[i])
	meta.flag("isSummary", true)
	blocks := []content.Block{}
	// What a summary was made of, such as the model's reasoning, is not in the next context.
	for _, p := range c.messages[i].parts {
		if p.text("type") == "text" {
			blocks = append(blocks, content.Text{Text: p.text("text")})
		}
	}
	c.ask(c.messages[i].line, meta, blocks...)
	// Messages between tail_start_id and the request for the summary are still in the context, after the summary. They
	// are added again: the entries behind the boundary are the whole context.
	asked := c.messages[i-1]
	at := slices.IndexFunc(asked.parts, func(p object) bool { return p.has("tail_start_id") })
	if at < 0 {
		return
	}
	first := asked.parts[at].text("tail_start_id")
	c.again = true
	defer func() { c.again = false }()
	kept := false
	for _, m := range c.messages[:i-1] {
		cost := look
		if kept = kept || m.info.text("id") == first; kept {
			c.add(m)
			cost += m.size()
		}
		if !c.b.repeat(asked.line, cost) {
			return
		}
	}
}

func (c *openCode) stamped(m *openCodeMessage) metadata {
	meta := stamped(m.info.object("time").raw("created"))
	meta.flag("fromCompaction", c.again)
	return meta
}

// add adds a message. One of the model may hold several answers: "step-start" begins each.
func (c *openCode) add(m *openCodeMessage) {
	meta := c.stamped(m)
	if m.info.text("role") == roleUser {
		// A message that only asks for a summary has no words of the person.
		if blocks := c.person(m); len(blocks) > 0 || len(m.parts) == 0 {
			c.ask(m.line, meta, blocks...)
		}
		return
	}
	stamp := meta.json()
	meta.text("model", m.info.text("modelID"))
	var said, answers []content.Block
	// flush ends one request: what the model said becomes an entry, and the results of its calls become the tool's. An
	// interrupted message has no "step-finish"; its counts are taken for the request's.
	flush := func(usage object) {
		if len(said) > 0 {
			with := slices.Clone(meta)
			if !c.again {
				cache := usage.object("cache")
				with.raw("usage", countedApart(usage.raw("input"), usage.raw("output"),
					cache.raw("read"), cache.raw("write")))
			}
			c.b.add(m.line, content.Content{Speaker: content.AI, Blocks: said, Metadata: with.json()})
		}
		if len(answers) > 0 {
			c.b.add(m.line, content.Content{Speaker: content.Tool, Blocks: answers, Metadata: stamp})
		}
		said, answers = nil, nil
	}
	// Each message begins with a request of its own.
	c.pause()
	for _, p := range m.parts {
		switch t := p.text("type"); t {
		case "text":
			said = append(said, content.Text{Text: p.text("text")})
		case "reasoning":
			said = append(said, content.Thinking{Thought: p.text("text")})
		case "tool":
			call, answer := openCodeCall(p)
			said, answers = append(said, call), append(answers, answer...)
		case "step-finish":
			flush(p.object("tokens"))
		default:
			c.other(m.line, t, p)
		}
	}
	flush(m.info.object("tokens"))
}

func (c *openCode) person(m *openCodeMessage) (blocks []content.Block) {
	for _, p := range m.parts {
		switch t := p.text("type"); {
		// "ignored" texts are only for the screen.
		case t == "text" && !p.isTrue("ignored"):
			blocks = append(blocks, content.Text{Text: p.text("text")})
		// Files of text are there as texts too.
		case t == "file" && p.text("mime") != "text/plain" && p.text("mime") != "application/x-directory":
			blocks = append(blocks, openCodeFile(p))
		case t == "text" || t == "file":
			c.b.tally.routine(m.line, -1, "part of type "+t+", which the model never saw, left out")
		default:
			c.other(m.line, t, p)
		}
	}
	return blocks
}

func (c *openCode) other(line int, t string, p object) {
	switch t {
	case "step-start", "snapshot", "patch", "agent", "retry", "compaction", "subtask":
		c.b.aside(line, "part of type "+t)
	default:
		c.b.unknown(line, "part of the unknown type "+clip([]byte(t)), p.json())
	}
}

// openCodeCall reads a call and its result. A call that was interrupted has none.
func openCodeCall(p object) (call content.Block, answer []content.Block) {
	state := p.object("state")
	id, name := p.text("callID"), p.text("tool")
	call = content.ToolCall{ID: id, Name: name, Parameters: state.copyOf("input")}
	r := content.ToolResponse{CallID: id, ToolName: name, Result: state.copyOf("output")}
	switch state.text("status") {
	case "completed":
	case "error":
		r.Result, r.Error = state.copyOf("error"), cmp.Or(state.text("error"), flaggedError)
	// The agent was stopped. The call is still open, as it was for the model.
	default:
		return call, nil
	}
	answer = one(r)
	files, _ := elements(state.raw("attachments"))
	for _, f := range files {
		answer = append(answer, openCodeFile(asObject(f)))
	}
	return call, answer
}

// openCodeFile reads an attachment. Data is inline in a "data:" URL; any other URL is kept as a link.
func openCodeFile(p object) content.Media {
	m := content.Media{MimeType: p.text("mime"), Filename: p.text("filename"), Data: p.text("url"), Encoding: "url"}
	if _, data, ok := strings.Cut(m.Data, ";base64,"); ok {
		m.Data, m.Encoding = data, "base64"
	}
	return m
}
