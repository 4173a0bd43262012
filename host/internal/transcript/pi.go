package transcript

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
)

// isPiRecord reports whether a record of type t is pi's. Its header is a "session" with a directory.
func isPiRecord(t string, o object) bool {
	return t == "session" && !o.has("sessionId") && o.has("cwd") ||
		t == "message" && o.object("message").has("role") && !o.has("sessionId")
}

// pi reads a session of pi: a header, then one record a line.
//
//	{"type": "session", "version": 3, "id": "s1", "cwd": "/w"}
//	{"type": "message", "id": "c", "parentId": "a", "message": {"role": "assistant", "content": [{"type": "toolCall",
//	 "id": "c1", "name": "read", "arguments": {…}}], "model": "m", "usage": {"input": 5, "cacheRead": 0, …}}}
//	{"type": "message", "id": "d", "parentId": "c", "message": {"role": "toolResult", "toolCallId": "c1", …}}
//	{"type": "compaction", "id": "f", "parentId": "e", "summary": "…", "firstKeptEntryId": "e"}
//
// From version 2 the records are a tree: a person who goes back in the session begins a branch, and the model saw only
// the branch of the last record. Other branches are left out with a remark. OpenClaw writes this form too: some of its
// records name no parent or one that is not in the file, and follow the record before them; a "leaf" names the record
// where the session goes on; records with the appendMode "side" are beside it. The form was learnt from a session that
// pi's authors published, from one recorded with the agent, and from what others published about OpenClaw's.
type pi struct {
	speech
	records []record // all but the header, in the order of the file
}

// isPiMessageField reports whether a field of a message is known; "details" is for the screen.
var isPiMessageField = nameIn("role", "content", "timestamp", "api", "provider", "model", "usage", "stopReason",
	"errorMessage", "toolCallId", "toolName", "isError", "details", "command", "output", "exitCode", "cancelled",
	"truncated", "fullOutputPath", "excludeFromContext", "customType", "display", "responseId", "diagnostics",
	"durationMs", "idempotencyKey", "__openclaw")

// record keeps the record: which branch counts is known at the end.
func (p *pi) record(r record) error {
	// The header may follow other records in files that were put together.
	if r.text("type") == "session" {
		p.b.t.ID = cmp.Or(p.b.t.ID, r.text("id"))
		p.b.t.workedIn(r.text("cwd"))
		return nil
	}
	p.records = append(p.records, record{line: r.line, object: asObject(bytes.Clone(r.whole))})
	return nil
}

// branch returns the positions of the records on the way to the last one. Without parents that is all of them.
func (p *pi) branch() []int {
	// Of two records with one id the later one counts.
	at := map[string]int{}
	for i, r := range p.records {
		if id := r.text("id"); id != "" {
			at[id] = i
		}
	}
	i := len(p.records) - 1
	for i > 0 && p.records[i].text("appendMode") == "side" {
		i--
	}
	var out []int
	for i >= 0 {
		r := p.records[i]
		to := r.raw("parentId")
		if r.text("type") == "leaf" {
			to = r.raw("targetId")
		}
		parent, ok := at[asText(to)]
		if out = append(out, i); ok && parent < i {
			i = parent
			continue
		}
		// A parent behind its child would never end.
		if ok || string(to) == "null" {
			break // the root
		}
		if to != nil && i > 0 {
			p.b.oddity(r.line, -1, "record whose parent is not in the file",
				"the record's parent %q is not in the file; the record before it is taken", clip([]byte(asText(to))))
		}
		i-- // version 1, which has no parents, and OpenClaw
	}
	slices.Reverse(out)
	return out
}

func (p *pi) end() error {
	b := p.b
	// Pi appends to one file whatever branch the person is on, so the last record says which one is current.
	way := p.branch()
	if n := len(p.records) - len(way); n > 0 {
		b.note(0, -1, "%d × record of a branch that was left (the model no longer saw it) left out", n)
		b.t.Notes[len(b.t.Notes)-1].Routine = n < len(way) // else someone may look for them
	}
	for n, i := range way {
		r := p.records[i]
		switch t := r.text("type"); t {
		case "message":
			p.message(r, r.object.object("message"), false)
		// Text that an extension of pi put into the context, in the person's place.
		case "custom_message":
			p.ask(r.line, stamped(r.raw("timestamp")), p.b.piContent(r.line, r.raw("content"))...)
		case "branch_summary":
			// What was tried on a left branch comes back as a summary that the model sees.
			p.summary(r)
		case "compaction":
			p.compaction(way[:n], r)
		case "model_change", "thinking_level_change", "label", "session_info", "custom", "leaf":
			b.aside(r.line, "record of type "+t)
		default:
			b.unknown(r.line, "record of the unknown type "+clip([]byte(t)), r.json())
		}
	}
	return nil
}

func (p *pi) summary(r record) {
	meta := stamped(r.raw("timestamp"))
	meta.flag("isSummary", true)
	p.ask(r.line, meta, content.Text{Text: r.text("summary")})
}

// compaction reads a compaction: the context continues with a summary and the messages from the first kept record on,
// which precede the compaction in the file. before are the records before it. Versions before 2 name the first kept
// record by its index, later ones by its id.
func (p *pi) compaction(before []int, r record) {
	p.b.boundary(BoundaryCompaction, r.but("summary", "type", "id", "parentId", "details").orEmpty())
	p.summary(r)
	kept := false
	first, byIndex := wholeNumber(r.raw("firstKeptEntryIndex"))
	for _, i := range before {
		cost := look
		kept = kept || r.has("firstKeptEntryId") && p.records[i].text("id") == r.text("firstKeptEntryId")
		if old := p.records[i]; (kept || byIndex && i+1 >= first) && old.text("type") == "message" {
			p.message(old, old.object.object("message"), true)
			cost += old.size()
		}
		if !p.b.repeat(r.line, cost) {
			break
		}
	}
	p.pause()
}

// message adds a message. again says that a compaction repeats it: its usage is counted already.
func (p *pi) message(r record, m object, again bool) {
	b := p.b
	b.unread(r.line, "a message", m, isPiMessageField)
	meta := stamped(firstOf(r.raw("timestamp"), m.raw("timestamp")))
	meta.flag("fromCompaction", again)
	switch role := m.text("role"); role {
	case "assistant":
		blocks := b.piContent(r.line, m.raw("content"))
		if len(blocks) == 0 {
			// It was aborted before its first block, and no provider takes it back.
			b.tally.routine(r.line, -1, "answer without content, which was aborted, left out")
			return
		}
		meta.raw("model", m.raw("model"))
		if !again {
			meta.raw("usage", m.raw("usage"))
		}
		// Each record of the model is a whole answer: two in a row are two requests.
		p.pause()
		p.say(r.line, meta, blocks...)
	case "toolResult":
		response := content.ToolResponse{CallID: m.text("toolCallId"), ToolName: m.text("toolName")}
		if m.isTrue("isError") {
			response.Error = flaggedError
		}
		p.answer(r.line, meta, withResult(response, m.raw("content"), piMedia)...)
	case "bashExecution":
		if m.isTrue("excludeFromContext") {
			b.tally.routine(r.line, -1, "command of the person that the model did not see left out")
			return
		}
		// The words in which pi itself tells the model what the person ran.
		p.ask(r.line, meta, content.Text{Text: "Ran `" + m.text("command") + "`\n```\n" + m.text("output") + "\n```"})
	default:
		if role != "user" {
			meta.text("role", role)
		}
		p.ask(r.line, meta, b.piContent(r.line, m.raw("content"))...)
	}
}

// piContent reads a text, or blocks that differ from Anthropic's in calls and images.
func (b *builder) piContent(line int, raw []byte) []content.Block {
	list, ok := elements(raw)
	if !ok {
		return b.messageContent(line, raw).blocks
	}
	blocks := []content.Block{}
	for _, raw := range list {
		switch o := asObject(raw); o.text("type") {
		case "toolCall":
			blocks = append(blocks, content.ToolCall{ID: o.text("id"), Name: o.text("name"),
				Parameters: o.copyOf("arguments")})
		case "thinking":
			blocks = append(blocks, content.Thinking{Thought: o.text("thinking"),
				Signature: o.text("thinkingSignature")})
		case "text":
			blocks = append(blocks, content.Text{Text: o.text("text")})
		default:
			if m, ok := piMedia(o); ok {
				blocks = append(blocks, m)
				continue
			}
			blocks = append(blocks, content.Opaque{JSON: bytes.Clone(raw)})
		}
	}
	return blocks
}

func piMedia(o object) (content.Media, bool) {
	m := content.Media{MimeType: o.text("mimeType"), Data: o.text("data"), Encoding: "base64"}
	return m, o.text("type") == "image" && m.Data != ""
}
