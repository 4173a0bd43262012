package transcript

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// isOpenCodeExport reports whether first, an element of a list of messages, belongs to a session of opencode.
func isOpenCodeExport(first ordered.Object) bool {
	return first.Object("info").Has("role") && ordered.Kind(first.Raw("parts")) == '['
}

// isOpenCodeEvent reports whether a record of type t is an event of opencode's bus, or printed by "opencode run
// --format json".
func isOpenCodeEvent(t string, o ordered.Object) bool {
	bus := strings.HasPrefix(t, "message.") || strings.HasPrefix(t, "session.") || strings.HasPrefix(t, "server.")
	printed := o.Has("sessionID") && strings.HasPrefix(o.Object("part").Text("messageID"), "msg_")
	return bus && o.Has("properties") || printed
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
	info  ordered.Object
	parts []ordered.Object
	byID  map[string]int // of the parts of an event stream, by their ids
}

func (m *openCodeMessage) Size() int {
	n := m.info.Size()
	for _, p := range m.parts {
		n += p.Size()
	}
	return n
}

func newOpenCode(b *builder) *openCode {
	return &openCode{speech: newSpeech(b), byID: map[string]*openCodeMessage{}}
}

func readOpenCode(b *builder, d *document) error {
	b.t.Format = OpenCode
	o := newOpenCode(b)
	info := d.top.Object("info")
	b.t.ID = info.Text("id")
	b.t.workedIn(info.Text("directory"))
	b.otherFields(d.top, nameIn("info", "messages"))
	// What the person took back is left out of the next request, and deleted when it is sent.
	revert := info.Object("revert").Text("messageID")
	taken := 0
	err := d.each("messages", func(_, line int, raw []byte) error {
		m := openCodeMessage{line: line, info: ordered.Of(raw).Object("info")}
		list, _ := ordered.Elements(ordered.Of(raw).Raw("parts"))
		for _, part := range list {
			m.parts = append(m.parts, ordered.Of(part))
		}
		if taken > 0 || revert != "" && m.info.Text("id") == revert {
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
	o := ordered.Of(r.whole)
	part, info := o.Object("part"), ordered.Object(nil)
	// The bus has the event in "properties", "run" has the part in "part".
	switch t := r.Text("type"); {
	case t == "message.updated":
		info = o.Object("properties").Object("info")
	case t == "message.part.updated":
		part = o.Object("properties").Object("part")
	case part != nil:
	default:
		c.b.aside(r.line, "event "+ordered.Clip([]byte(t)))
		return nil
	}
	session := cmp.Or(info.Text("sessionID"), part.Text("sessionID"))
	if c.session = cmp.Or(c.session, session); session != c.session {
		c.b.tally.Routine(r.line, -1, "event of another session, such as a sub-agent's, left out")
		return nil
	}
	m := c.message(r.line, cmp.Or(info.Text("id"), part.Text("messageID")))
	if info != nil {
		m.info = info
		return nil
	}
	// A part that is named again has grown: "running" becomes "completed", and a text gets longer.
	id := part.Text("id")
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
		c.b.t.workedIn(m.info.Object("path").Text("cwd"))
		// The first message cannot be a summary of anything, however it is marked.
		if m.info.True("summary") && i > 0 {
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
	c.Pause()
	c.b.boundary(BoundaryCompaction, nil)
	meta := c.stamped(c.messages[i])
	meta.Flag("isSummary", true)
	blocks := []content.Block{}
	// What a summary was made of, such as the model's reasoning, is not in the next context.
	for _, p := range c.messages[i].parts {
		if p.Text("type") == "text" {
			blocks = append(blocks, content.Text{Text: p.Text("text")})
		}
	}
	c.Ask(c.messages[i].line, meta.JSON(), blocks...)
	// Messages between tail_start_id and the request for the summary are still in the context, after the summary. They
	// are added again: the entries behind the boundary are the whole context.
	asked := c.messages[i-1]
	at := slices.IndexFunc(asked.parts, func(p ordered.Object) bool { return p.Has("tail_start_id") })
	if at < 0 {
		return
	}
	first := asked.parts[at].Text("tail_start_id")
	c.again = true
	defer func() { c.again = false }()
	kept := false
	for _, m := range c.messages[:i-1] {
		cost := look
		if kept = kept || m.info.Text("id") == first; kept {
			c.add(m)
			cost += m.Size()
		}
		if !c.b.repeat(asked.line, cost) {
			return
		}
	}
}

func (c *openCode) stamped(m *openCodeMessage) ordered.Builder {
	meta := stamped(m.info.Object("time").Raw("created"))
	meta.Flag("fromCompaction", c.again)
	return meta
}

// add adds a message. One of the model may hold several answers: "step-start" begins each.
func (c *openCode) add(m *openCodeMessage) {
	meta := c.stamped(m)
	if m.info.Text("role") == messages.User {
		// A message that only asks for a summary has no words of the person.
		if blocks := c.person(m); len(blocks) > 0 || len(m.parts) == 0 {
			c.Ask(m.line, meta.JSON(), blocks...)
		}
		return
	}
	stamp := meta.JSON()
	meta.Text("model", m.info.Text("modelID"))
	var said, answers []content.Block
	// flush ends one request: what the model said becomes an entry, and the results of its calls become the tool's. An
	// interrupted message has no "step-finish"; its counts are taken for the request's.
	flush := func(of ordered.Object) {
		if len(said) > 0 {
			with := slices.Clone(meta)
			if !c.again {
				with.Raw("usage", openCodeUsage(of))
			}
			c.b.Add(m.line, content.Content{Speaker: content.AI, Blocks: said, Metadata: with.JSON()})
		}
		if len(answers) > 0 {
			c.b.Add(m.line, content.Content{Speaker: content.Tool, Blocks: answers, Metadata: stamp})
		}
		said, answers = nil, nil
	}
	// Each message begins with a request of its own.
	c.Pause()
	for _, p := range m.parts {
		switch t := p.Text("type"); t {
		case "text":
			said = append(said, content.Text{Text: p.Text("text")})
		case "reasoning":
			said = append(said, content.Thinking{Thought: p.Text("text")})
		case "tool":
			call, answer := openCodeCall(p)
			said, answers = append(said, call), append(answers, answer...)
		case "step-finish":
			flush(p)
		default:
			c.other(m.line, t, p)
		}
	}
	flush(m.info)
}

// openCodeUsage returns the counts of a message or step under the names of Anthropic, whose counts do not include each
// other either, and its cost: 0 where OpenCode knows no price, or a subscription pays. It counts reasoning apart.
func openCodeUsage(of ordered.Object) []byte {
	tokens := of.Object("tokens")
	cache, output := tokens.Object("cache"), tokens.Raw("output")
	if more, err := strconv.Atoi(string(tokens.Raw("reasoning"))); err == nil && more > 0 {
		if n, err := strconv.Atoi(string(output)); err == nil || output == nil {
			output = strconv.AppendInt(nil, int64(n)+int64(more), 10)
		}
	}
	var m ordered.Builder
	m.Raw("input_tokens", tokens.Raw("input"))
	m.Raw("output_tokens", output)
	m.Raw("cache_read_input_tokens", cache.Raw("read"))
	if write := cache.Raw("write"); string(write) != "0" { // as OpenCode has it where the provider does not count it
		m.Raw("cache_creation_input_tokens", write)
	}
	if len(m) > 0 {
		m.Raw("cost", of.Raw("cost"))
	}
	return m.JSON()
}

func (c *openCode) person(m *openCodeMessage) (blocks []content.Block) {
	for _, p := range m.parts {
		switch t := p.Text("type"); {
		// "ignored" texts are only for the screen.
		case t == "text" && !p.True("ignored"):
			blocks = append(blocks, content.Text{Text: p.Text("text")})
		// Files of text are there as texts too.
		case t == "file" && p.Text("mime") != "text/plain" && p.Text("mime") != "application/x-directory":
			blocks = append(blocks, openCodeFile(p))
		case t == "text" || t == "file":
			c.b.tally.Routine(m.line, -1, "part of type "+t+", which the model never saw, left out")
		default:
			c.other(m.line, t, p)
		}
	}
	return blocks
}

func (c *openCode) other(line int, t string, p ordered.Object) {
	switch t {
	case "step-start", "snapshot", "patch", "agent", "retry", "compaction", "subtask":
		c.b.aside(line, "part of type "+t)
	default:
		c.b.unknown(line, "part of the unknown type "+ordered.Clip([]byte(t)), p.JSON())
	}
}

// openCodeCall reads a call and its result. A call that was interrupted has none.
func openCodeCall(p ordered.Object) (call content.Block, answer []content.Block) {
	state := p.Object("state")
	id, name := p.Text("callID"), p.Text("tool")
	call = content.ToolCall{ID: id, Name: name, Parameters: state.Copy("input")}
	r := content.ToolResponse{CallID: id, ToolName: name, Result: state.Copy("output")}
	switch state.Text("status") {
	case "completed":
	case "error":
		r.Result, r.Error = state.Copy("error"), cmp.Or(state.Text("error"), messages.FlaggedError)
	// The agent was stopped. The call is still open, as it was for the model.
	default:
		return call, nil
	}
	answer = messages.One(r)
	files, _ := ordered.Elements(state.Raw("attachments"))
	for _, f := range files {
		answer = append(answer, openCodeFile(ordered.Of(f)))
	}
	return call, answer
}

// openCodeFile reads an attachment. Data is inline in a "data:" URL; any other URL is kept as a link.
func openCodeFile(p ordered.Object) content.Media {
	m := content.Media{MimeType: p.Text("mime"), Filename: p.Text("filename"), Data: p.Text("url"), Encoding: "url"}
	if _, data, ok := strings.Cut(m.Data, ";base64,"); ok {
		m.Data, m.Encoding = data, "base64"
	}
	return m
}
