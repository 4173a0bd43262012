package transcript

import "github.com/thresh-dev/thresh/sdk/content"

// isDroidRecord reports whether a record of type t is one of Droid. A session begins with "session_start"; its messages
// have blocks of Anthropic's API.
func isDroidRecord(t string, o object) bool { return t == "session_start" && o.has("id") }

// droid reads a session of Droid. The blocks of its messages are those of Anthropic's API:
//
//	{"type": "session_start", "id": "s1", "title": "…", "cwd": "/w"}
//	{"type": "message", "id": "2", "timestamp": "…", "message": {"role": "assistant", "content": [{"type": "tool_use",
//	 "id": "c1", "name": "Read", "input": {…}}]}}
//
// Left out is the state of the task list, which is for the screen. The reader was tested with a sample made by hand.
type droid struct{ b *builder }

func (d *droid) record(r record) error {
	switch t := r.text("type"); t {
	case "session_start":
		d.b.t.ID = firstText(d.b.t.ID, r.text("id"))
		d.b.t.workedIn(r.text("cwd"))
	case "message":
		m := r.object.object("message")
		d.b.unread(r.line, "a message", m, nameIn("role", "content", "id"))
		meta, p := stamped(r.raw("timestamp")), d.b.messageContent(r.line, m.raw("content"))
		if m.text("role") == roleAssistant {
			d.b.add(r.line, content.Content{Speaker: content.AI, Blocks: p.blocks, Metadata: meta.json()})
			return nil
		}
		d.b.userEntries(r.line, p, content.Content{Metadata: meta.json()})
	case "todo_state", "session_end", "compaction_state":
		d.b.tally.routine(r.line, -1, "record of type "+t+", which is not part of the conversation, left out")
	default:
		d.b.unknown(r.line, "record of the unknown type "+clip([]byte(t)), r.whole)
	}
	return nil
}

func (d *droid) end() error {
	d.b.t.Format = Droid
	return nil
}
