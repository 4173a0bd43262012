package transcript

import (
	"bytes"
	"cmp"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// isDroidRecord reports whether a record of type t is of a session of droid. A message has parts in Anthropic's form,
// where pi has its own.
func isDroidRecord(t string, o ordered.Object) bool {
	m := o.Object("message")
	return t == "session_start" && o.Has("id") && o.Has("owner") || t == "message" && o.Has("id") &&
		(m.Has("modelId") || m.Has("visibility") || ordered.FindObject(m.Raw("content"), func(part ordered.Object) bool {
			return part.Text("type") == "tool_use" || part.Text("type") == "tool_result"
		}) != nil)
}

var (
	isDroidMessageField = nameIn("role", "content", "modelId", "visibility", "reasoningEffort", "interactionMode",
		"userMessageSource", "openaiMessageId", "openaiPhase", "openaiEncryptedContent", "openaiReasoningId",
		"openaiReasoningSummary", "chatCompletionReasoningField", "chatCompletionReasoningContent", "apiProvider",
		"routerId", "isUserVisible", "isError", "createdAt", "updatedAt")
	// What only steers the agent, and what it keeps for the screen.
	isDroidAside = nameIn("agent_turn_outcome", "todo_state", "session_end")
)

// droid reads a session of Factory's droid: a head, then one record a line.
//
//	{"type": "session_start", "id": "s1", "owner": "…", "cwd": "/w", "parent": "s0", "forkedAtMessageId": "m9"}
//	{"type": "message", "id": "m1", "parentId": "m0", "timestamp": "…", "message": {"role": "assistant",
//	 "modelId": "m", "content": [{"type": "tool_use", …}]}}
//	{"type": "compaction_state", "timestamp": "…", "summaryText": "…", "anchorMessage": {"id": "m1"}}
//
// The content is in the form of Anthropic's API, for every model. A compaction names the last message that its
// summary stands for, and those behind it stay. A fork begins with copies of its parent's messages. What providers
// counted is in another file, and of the whole session alone. The reader was written after sessions that were
// recorded with the agent.
type droid struct {
	speech
	kept   []record // messages since the start, which a compaction may keep
	copied string   // the last message that is the parent's; "" for none
}

func (d *droid) record(r record) error {
	b := d.b
	switch t := r.Text("type"); {
	case t == "session_start":
		b.t.ID = cmp.Or(b.t.ID, r.Text("id"))
		b.t.workedIn(r.Text("cwd"))
		d.copied = r.Text("forkedAtMessageId")
	case t == "message":
		d.message(r, false)
		d.kept = append(d.kept, record{line: r.line, Object: ordered.Of(bytes.Clone(r.whole))})
		if r.Text("id") == d.copied {
			d.copied = ""
		}
	case t == "compaction_state":
		d.compaction(r)
	case isDroidAside(t):
		b.aside(r.line, "record of type "+t)
	default:
		b.unknown(r.line, "record of the unknown type "+ordered.Clip([]byte(t)), r.whole)
	}
	return nil
}

func (d *droid) compaction(r record) {
	d.b.boundary(BoundaryCompaction, r.But("type", "id", "summaryText", "systemInfo", "systemInfoText",
		"loadedDeferredToolNames").OrEmpty())
	meta := stamped(r.Raw("timestamp"))
	meta.Flag("isSummary", true)
	summary := messages.One(content.Text{Text: r.Text("summaryText")})
	if about := r.Text("systemInfoText"); about != "" {
		summary = append(summary, content.Text{Text: about})
	}
	d.Ask(r.line, meta.JSON(), summary...)
	anchor, from := r.Object.Object("anchorMessage").Text("id"), len(d.kept)
	for i := len(d.kept) - 1; i >= 0 && anchor != ""; i-- {
		if d.kept[i].Text("id") == anchor {
			from = i + 1
			break
		}
	}
	kept := d.kept[from:]
	for _, m := range kept {
		d.message(m, true)
		if !d.b.repeat(r.line, m.Size()+look) {
			break
		}
	}
	d.kept = kept
}

// message adds a message. again says that a compaction repeats it.
func (d *droid) message(r record, again bool) {
	m, b := r.Object.Object("message"), d.b
	b.unread(r.line, "a message", m, isDroidMessageField)
	meta := stamped(r.Raw("timestamp"))
	meta.Flag("fromCompaction", again)
	meta.Flag(fromFork, d.copied != "")
	visible := cmp.Or(m.Text("visibility"), r.Text("visibility"))
	if visible == "user_only" {
		b.tally.Routine(r.line, -1, "message that the model did not see left out")
		return
	}
	p := b.messageContent(r.line, m.Raw("content"))
	if m.Text("role") == messages.Assistant {
		meta.Text("model", m.Text("modelId"))
		blocks := append(droidThoughts(m), p.Blocks...)
		if len(blocks) == 0 {
			b.tally.Routine(r.line, -1, "answer without content left out")
			return
		}
		b.Add(r.line, content.Content{Speaker: content.AI, Blocks: blocks, Metadata: meta.JSON()})
		return
	}
	// Sent to the model though no person typed it.
	meta.Flag("isMeta", visible == "llm_only")
	b.UserEntries(r.line, p, content.Content{Metadata: meta.JSON()})
}

// droidThoughts returns what the model thought where the provider's form has it beside the content.
func droidThoughts(m ordered.Object) (out []content.Block) {
	if text := m.Text("chatCompletionReasoningContent"); text != "" {
		out = append(out, content.Thinking{Thought: text})
	}
	if sealed := m.Copy("openaiEncryptedContent"); sealed != nil || m.Has("openaiReasoningSummary") {
		thought := content.Thinking{Thought: m.Text("openaiReasoningSummary")}
		if sealed != nil {
			thought.Extra = content.FieldsOf(content.Field{Name: "encryptedContent", Value: sealed})
		}
		out = append(out, thought)
	}
	return out
}
