package transcript

import (
	"net/url"

	"github.com/thresh-dev/thresh/sdk/content"
)

// isAmp reports whether a document is a thread of Amp; first is its first message. Its messages look like Anthropic's.
func isAmp(top, first object) bool {
	return top.has("created") && (top.has("v") || top.has("agentMode")) && (first == nil || first.has("role"))
}

// readAmp reads a thread of Amp. Its messages look like Anthropic's, with results in a form of their own, which says
// how the tool ran:
//
//	{"v": 3, "id": "T-1", "created": 1767865803494, "env": {"initial": {"trees": [{"uri": "file:///w"}]}}, "messages": [
//	 {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "Read", "input": {…}}],
//	  "usage": {"model": "m", "inputTokens": 9, "cacheReadInputTokens": 30, "outputTokens": 7, "maxInputTokens": …}},
//	 {"role": "user", "content": [{"type": "tool_result", "toolUseID": "c1", "run": {"status": "done", "result": …}}]},
//	 {"role": "info", "content": [{"type": "summary", "summary": {"type": "message", "summary": "…"}}]}]}
//
// Messages of the role info are for the person, but for a summary, with which the thread goes on. The reader was tested
// with a sample made by hand; no recorded thread was at hand.
func readAmp(b *builder, d *document) error {
	b.t.Format = Amp
	b.t.ID = d.top.text("id")
	initial := d.top.object("env").object("initial")
	b.t.workedIn(initial.text("cwd"))
	// A file: URL of the first tree, where there is no cwd. Blanks are escaped in it.
	if tree := firstObject(initial.raw("trees")); tree != nil {
		if u, err := url.Parse(tree.text("uri")); err == nil && u.Scheme == "file" {
			b.t.workedIn(u.Path)
		}
	}
	b.otherFields(d.top, nameIn("v", "id", "created", "title", "env", "agentMode", "messages", "nextMessageId", "meta",
		"~debug", "usageLedger", "activatedSkills", "relationships", "updatedAt", "creatorUserID"))
	return d.each("messages", func(_, line int, raw []byte) error {
		b.ampMessage(line, asObject(raw))
		return nil
	})
}

// isAmpField reports whether a field of a message is known.
var isAmpField = nameIn("role", "content", "messageId", "meta", "usage", "state", "userState", "readAt",
	"protocolMessageID", "turnElapsedMs", "interrupted", "originalToolUseInput", "agentMode", "dtwMessageID", "id")

// ampMessage reads one message.
func (b *builder) ampMessage(line int, m object) {
	b.unread(line, "a message", m, isAmpField)
	usage := m.object("usage")
	meta := stamped(firstOf(m.object("meta").raw("sentAt"), usage.raw("timestamp")))
	var p pieces
	list, ok := elements(m.raw("content"))
	if !ok {
		// A text in place of a list, which messages of Anthropic may have too.
		p = b.messageContent(line, m.raw("content"))
	}
	for _, raw := range list {
		blocks, ofTool := ampBlock(raw)
		p.add(ofTool, blocks...)
	}
	switch role := m.text("role"); role {
	case roleAssistant:
		meta.raw("model", usage.raw("model"))
		// Amp counts the cached parts apart from inputTokens, as Anthropic does.
		meta.raw("usage", countedApart(usage.raw("inputTokens"), usage.raw("outputTokens"),
			usage.raw("cacheReadInputTokens"), usage.raw("cacheCreationInputTokens")))
		b.t.window(usage.raw("maxInputTokens"))
		b.add(line, content.Content{Speaker: content.AI, Blocks: p.blocks, Metadata: meta.json()})
	case "info":
		summary := firstObject(m.raw("content")).object("summary")
		text := summary.text("summary")
		if text == "" {
			b.tally.routine(line, -1, "message of the role info, which the model never saw, left out")
			return
		}
		// The thread was compacted: it goes on with the summary.
		b.boundary(BoundaryCompaction, nil)
		meta.flag("isSummary", true)
		b.add(line, content.Content{
			Speaker: content.Human, Blocks: one(content.Text{Text: text}), Metadata: meta.json(),
		})
	default:
		b.userEntries(line, p, content.Content{Metadata: meta.json()})
	}
}

// ampBlock reads one block. Only results and images differ from Anthropic's.
func ampBlock(raw []byte) (blocks []content.Block, ofTool bool) {
	o := asObject(raw)
	switch t := o.text("type"); {
	case t == "tool_result" && o.has("toolUseID"):
		run := o.object("run")
		r := content.ToolResponse{CallID: o.text("toolUseID")}
		var media []content.Block
		// A run that was stopped has what it printed until then in "progress".
		r.Result, media = resultOf(firstOf(run.raw("result"), run.raw("progress")), ampImage)
		switch status := run.text("status"); status {
		case "error", "cancelled", "rejected-by-user":
			r.Error = firstText(run.object("error").text("message"), run.text("error"), run.text("reason"), status)
			// A failure without output: the model saw the reason.
			r.Result = firstOf(r.Result, content.String(r.Error))
		}
		return append(one(r), media...), true
	case t == "image":
		if m, ok := ampImage(o); ok {
			return one(m), false
		}
	case t == "tool_use":
		return one(content.ToolCall{ID: o.text("id"), Name: o.text("name"), Parameters: o.copyOf("input")}), false
	}
	return anthropicBlock(raw), false
}

// ampImage reads an image; ok is false if there is no data.
func ampImage(o object) (content.Media, bool) {
	source := o.object("source")
	m := content.Media{MimeType: source.text("mediaType"), Data: source.text("data"), Encoding: "base64"}
	return m, m.Data != ""
}
