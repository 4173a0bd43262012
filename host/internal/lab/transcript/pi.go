package transcript

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// isPiRecord reports whether a record of type t is pi's. Its header is a "session" with a directory.
func isPiRecord(t string, o ordered.Object) bool {
	return t == "session" && !o.Has("sessionId") && o.Has("cwd") ||
		t == "message" && o.Object("message").Has("role") && !o.Has("sessionId") && !textAlone(o)
}

// textAlone reports whether a message has a text and nothing that tells whose form it is in.
func textAlone(o ordered.Object) bool {
	m := o.Object("message")
	return len(m.But("role", "content")) == 0 && ordered.FindObject(m.Raw("content"), func(part ordered.Object) bool {
		return part.Text("type") != "text"
	}) == nil
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
	began   string   // when a session that names its parent left it; "" for others
}

// isPiMessageField reports whether a field of a message is known; "details" is for the screen.
var isPiMessageField = nameIn("role", "content", "timestamp", "api", "provider", "model", "usage", "stopReason",
	"errorMessage", "toolCallId", "toolName", "isError", "details", "command", "output", "exitCode", "cancelled",
	"truncated", "fullOutputPath", "excludeFromContext", "customType", "display", "responseId", "diagnostics",
	"durationMs", "idempotencyKey", "__openclaw")

// record keeps the record: which branch counts is known at the end.
func (p *pi) record(r record) error {
	// The header may follow other records in files that were put together.
	if r.Text("type") == "session" {
		p.b.t.ID = cmp.Or(p.b.t.ID, r.Text("id"))
		p.b.t.workedIn(r.Text("cwd"))
		if r.Has("parentSession") && len(p.records) == 0 {
			p.began = r.Text("timestamp")
		}
		return nil
	}
	p.records = append(p.records, record{line: r.line, Object: ordered.Of(bytes.Clone(r.whole))})
	return nil
}

// branch returns the positions of the records on the way to the last one. Without parents that is all of them.
func (p *pi) branch() []int {
	// Of two records with one id the later one counts.
	at := map[string]int{}
	for i, r := range p.records {
		if id := r.Text("id"); id != "" {
			at[id] = i
		}
	}
	i := len(p.records) - 1
	for i > 0 && p.records[i].Text("appendMode") == "side" {
		i--
	}
	var out []int
	for i >= 0 {
		r := p.records[i]
		to := r.Raw("parentId")
		if r.Text("type") == "leaf" {
			to = r.Raw("targetId")
		}
		parent, ok := at[ordered.Text(to)]
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
				"the record's parent %q is not in the file; the record before it is taken", ordered.Clip([]byte(ordered.Text(to))))
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
		switch t := r.Text("type"); t {
		case "message":
			p.message(r, r.Object.Object("message"), false)
		// Text that an extension of pi put into the context, in the person's place.
		case "custom_message":
			p.Ask(r.line, stamped(r.Raw("timestamp")).JSON(), p.b.piContent(r.line, r.Raw("content"))...)
		case "branch_summary":
			// What was tried on a left branch comes back as a summary that the model sees.
			p.summary(r)
		case "compaction":
			p.compaction(way[:n], r)
		case "model_change", "thinking_level_change", "label", "session_info", "custom", "leaf":
			b.aside(r.line, "record of type "+t)
		default:
			b.unknown(r.line, "record of the unknown type "+ordered.Clip([]byte(t)), r.JSON())
		}
	}
	return nil
}

// copied reports whether a record is the parent's: a fork has copies of them, with their times.
func (p *pi) copied(r record) bool {
	at, err := time.Parse(time.RFC3339, r.Text("timestamp"))
	began, errBegan := time.Parse(time.RFC3339, p.began)
	return err == nil && errBegan == nil && at.Before(began)
}

func (p *pi) summary(r record) {
	meta := stamped(r.Raw("timestamp"))
	meta.Flag("isSummary", true)
	p.Ask(r.line, meta.JSON(), content.Text{Text: r.Text("summary")})
}

// compaction reads a compaction: the context continues with a summary and the messages from the first kept record on,
// which precede the compaction in the file. before are the records before it. Versions before 2 name the first kept
// record by its index, later ones by its id.
func (p *pi) compaction(before []int, r record) {
	about := r.But("summary", "type", "id", "parentId", "details")
	if p.copied(r) {
		about = append(about, ordered.Field{Name: fromFork, Value: []byte("true")})
	}
	p.b.boundary(BoundaryCompaction, about.OrEmpty())
	p.summary(r)
	kept := false
	first, byIndex := ordered.Whole(r.Raw("firstKeptEntryIndex"))
	for _, i := range before {
		cost := look
		kept = kept || r.Has("firstKeptEntryId") && p.records[i].Text("id") == r.Text("firstKeptEntryId")
		if old := p.records[i]; (kept || byIndex && i+1 >= first) && old.Text("type") == "message" {
			p.message(old, old.Object.Object("message"), true)
			cost += old.Size()
		}
		if !p.b.repeat(r.line, cost) {
			break
		}
	}
	p.Pause()
}

// message adds a message. again says that a compaction repeats it: its usage is counted already.
func (p *pi) message(r record, m ordered.Object, again bool) {
	b := p.b
	b.unread(r.line, "a message", m, isPiMessageField)
	meta := stamped(ordered.First(r.Raw("timestamp"), m.Raw("timestamp")))
	meta.Flag("fromCompaction", again)
	meta.Flag(fromFork, p.copied(r))
	switch role := m.Text("role"); role {
	case "assistant":
		blocks := b.piContent(r.line, m.Raw("content"))
		if len(blocks) == 0 {
			// It was aborted before its first block, and no provider takes it back.
			b.tally.Routine(r.line, -1, "answer without content, which was aborted, left out")
			return
		}
		meta.Raw("model", m.Raw("model"))
		if !again {
			meta.Raw("usage", m.Raw("usage"))
			meta.Text(fieldRequest, m.Text("responseId"))
		}
		// Each record of the model is a whole answer: two in a row are two requests.
		p.Pause()
		p.Say(r.line, meta.JSON(), blocks...)
	case "toolResult":
		response := content.ToolResponse{CallID: m.Text("toolCallId"), ToolName: m.Text("toolName")}
		if m.True("isError") {
			response.Error = messages.FlaggedError
		}
		p.Answer(r.line, meta.JSON(), messages.WithResult(response, m.Raw("content"), piMedia)...)
	case "bashExecution":
		if m.True("excludeFromContext") {
			b.tally.Routine(r.line, -1, "command of the person that the model did not see left out")
			return
		}
		// The words in which pi itself tells the model what the person ran.
		p.Ask(r.line, meta.JSON(), content.Text{Text: "Ran `" + m.Text("command") + "`\n```\n" + m.Text("output") + "\n```"})
	default:
		if role != "user" {
			meta.Text("role", role)
		}
		p.Ask(r.line, meta.JSON(), b.piContent(r.line, m.Raw("content"))...)
	}
}

// piContent reads a text, or blocks that differ from Anthropic's in calls and images.
func (b *builder) piContent(line int, raw []byte) []content.Block {
	list, ok := ordered.Elements(raw)
	if !ok {
		return b.messageContent(line, raw).Blocks
	}
	blocks := []content.Block{}
	for _, raw := range list {
		switch o := ordered.Of(raw); o.Text("type") {
		case "toolCall":
			blocks = append(blocks, content.ToolCall{ID: o.Text("id"), Name: o.Text("name"),
				Parameters: o.Copy("arguments")})
		case "thinking":
			blocks = append(blocks, content.Thinking{Thought: o.Text("thinking"),
				Signature: o.Text("thinkingSignature")})
		case "text":
			blocks = append(blocks, content.Text{Text: o.Text("text")})
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

func piMedia(o ordered.Object) (content.Media, bool) {
	m := content.Media{MimeType: o.Text("mimeType"), Data: o.Text("data"), Encoding: "base64"}
	return m, o.Text("type") == "image" && m.Data != ""
}
