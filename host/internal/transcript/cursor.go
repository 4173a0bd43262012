package transcript

import "github.com/thresh-dev/thresh/sdk/content"

// isCursorRecord reports whether a record is a line of a transcript of Cursor: a role, and the content in a message.
func isCursorRecord(o object) bool {
	return o.has("role") && !o.has("content") && o.object("message").has("content")
}

// cursor reads a transcript of Cursor.
//
//	{"role": "assistant", "message": {"content": [{"type": "text", "text": "I read"},
//	 {"type": "tool_use", "name": "Read", "input": {…}}]}}
//	{"type": "turn_ended"}
//
// Its calls have no ids, and often no results: Cursor leaves them out. The reader was tested with samples made by hand.
type cursor struct {
	b    *builder
	open []string // ids made for calls that are not answered
	made int
}

func (c *cursor) record(r record) error {
	if r.text("type") == "turn_ended" {
		c.b.tally.routine(r.line, -1, "record of type turn_ended, which is not part of the conversation, left out")
		return nil
	}
	if !isCursorRecord(r.object) {
		c.b.unknown(r.line, "record of an unknown form", r.whole)
		return nil
	}
	// What is not read is reported, so that a field which a new version of Cursor adds does not go missing in silence.
	m := r.object.object("message")
	c.b.unread(r.line, "a record", r.object, nameIn("role", "message", "timestamp"))
	c.b.unread(r.line, "a message", m, nameIn("content", "role"))
	var p pieces
	list, ok := elements(m.raw("content"))
	if !ok {
		p = c.b.messageContent(r.line, m.raw("content"))
	}
	// messageContent has read a plain text; a list is read here, because calls have no ids yet.
	for _, raw := range list {
		block, ofTool := c.block(raw)
		p.add(ofTool, block...)
	}
	meta := stamped(r.raw("timestamp"))
	if r.text("role") == roleAssistant {
		c.b.add(r.line, content.Content{Speaker: content.AI, Blocks: p.blocks, Metadata: meta.json()})
		return nil
	}
	c.b.userEntries(r.line, p, content.Content{Metadata: meta.json()})
	return nil
}

// block reads one block. Calls get an id, which the next results answer in their order.
func (c *cursor) block(raw []byte) (blocks []content.Block, ofTool bool) {
	o := asObject(raw)
	// Versions that do record ids are read as Anthropic's blocks, below.
	switch {
	case o.text("type") == "tool_use" && !o.has("id"):
		id := madeID(&c.made)
		c.open = append(c.open, id)
		return one(content.ToolCall{ID: id, Name: o.text("name"), Parameters: o.copyOf("input")}), false
	case o.text("type") == "tool_result" && !o.has("tool_use_id") && len(c.open) > 0:
		id := c.open[0]
		c.open = c.open[1:]
		return anthropicResult(id, o), true
	}
	blocks = anthropicBlock(raw)
	_, ofTool = blocks[0].(content.ToolResponse)
	return blocks, ofTool
}

func (c *cursor) end() error {
	c.b.t.Format = Cursor
	// Without results a replay would compare histories that no agent ever had.
	if len(c.open) > 0 {
		c.b.t.Unanswered = true
		c.b.note(0, -1, "%d calls have no result: Cursor does not record them, so savings cannot be told", len(c.open))
	}
	return nil
}
