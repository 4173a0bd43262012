package transcript

import (
	"bytes"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// isKimiRecord reports whether a record of type t is of a session of Kimi. Both of its agents begin with the same head.
func isKimiRecord(t string, o ordered.Object) bool {
	message := o.Object("message")
	return t == "metadata" && o.Has("protocol_version") || strings.HasPrefix(t, "context.append_") ||
		message.Has("type") && ordered.Kind(message.Raw("payload")) == '{'
}

// kimi reads a session of Kimi Code, or of kimi-cli before it: kimi_cli.go.
//
//	{"type": "metadata", "protocol_version": "1.5", "created_at": 1795958226104}
//	{"type": "profile.bind", "systemPrompt": "…", "environmentDisclosure": {"cwd": "/w"}, "time": 1795958226115}
//	{"type": "context.append_message", "message": {"role": "user", "content": […], "origin": {"kind": "user"}}}
//	{"type": "context.append_loop_event", "event": {"type": "step.begin", "uuid": "s1"}}
//	{"type": "context.append_loop_event", "event": {"type": "tool.call", "stepUuid": "s1", "toolCallId": "c1", …}}
//	{"type": "context.append_loop_event", "event": {"type": "tool.result", "toolCallId": "c1", "result": {…}}}
//	{"type": "context.append_loop_event", "event": {"type": "step.end", "uuid": "s1", "usage": {"inputOther": 9, …}}}
//	{"type": "context.apply_compaction", "contextSummary": "…", "keptUserMessageCount": 1}
//
// A step is a request. Records that begin with another word steer the agent, or repeat the messages. A message that
// came while calls were running is behind their results for the model. A compaction keeps what persons wrote, and in
// older versions the last messages. A fork begins with copies of its parent's records. The reader was written after
// sessions that were recorded with the agent, and its code.
type kimi struct {
	speech
	context []kimiMessage // what the next request holds
	open    []string      // calls of the step without a result
	later   []kimiLater   // messages that came meanwhile
	step    int           // the entry of the step; -1 for none yet
	model   string
	spare   []byte // the usage of the step, before its content
	compact []byte // the usage of the request that makes a compaction
	begun   bool   // a compaction has begun
}

// kimiMessage is one message of the context: blocks of an entry.
type kimiMessage struct {
	entry, from, to int
	anchor          bool // a person wrote it, or ran a command with it
	kept            bool // a compaction keeps it
}

type kimiLater struct {
	line int
	raw  []byte
	time []byte
}

func newKimi(b *builder) lineReader { return &kimi{speech: newSpeech(b), step: -1} }

// isKimiAside reports whether a group of records holds nothing of the conversation.
var isKimiAside = nameIn("metadata", "agent", "config", "cron", "file_history", "full_compaction", "goal",
	"interaction", "interruptionReminder", "llm", "mcp", "notification", "permission", "plan", "plan_mode", "plugin",
	"profile", "prompt", "runtime", "staleGuard", "swarm_mode", "task", "token_counting", "tools", "tower_mode", "turn",
	"usage")

func (k *kimi) record(r record) error {
	if r.Object.Object("message").Has("type") {
		k.wire(r)
		return nil
	}
	b := k.b
	switch t := r.Text("type"); t {
	case "context.append_message":
		if len(k.open) > 0 {
			k.later = append(k.later, kimiLater{r.line, bytes.Clone(r.Raw("message")), bytes.Clone(r.Raw("time"))})
			return nil
		}
		k.message(r.line, r.Raw("time"), r.Object.Object("message"))
	case "context.append_loop_event":
		k.event(r, r.Object.Object("event"))
	case "context.apply_compaction":
		k.compaction(r)
	case "context.clear":
		k.settle()
		b.boundary(BoundaryCompaction, nil)
		k.context = nil
	case "context.undo":
		k.undo(r)
	case "forked":
		k.forked()
	case "profile.bind", "config.update":
		b.t.workedIn(r.Object.Object("environmentDisclosure").Text("cwd"))
		if text := r.Text("systemPrompt"); text != "" && len(b.Entries) == 0 {
			b.System = messages.One(content.Text{Text: text})
		}
	case "llm.request":
		k.model = r.Text("model")
	case "full_compaction.begin":
		k.begun = true
	case "usage.record":
		k.usage(r)
	default:
		// The group only, so a file with many kinds of records has few notes.
		group, _, _ := strings.Cut(t, ".")
		if !isKimiAside(group) {
			b.unknown(r.line, "record of the unknown type "+ordered.Clip([]byte(t)), r.whole)
			return nil
		}
		b.aside(r.line, "record of type "+group+".…")
	}
	return nil
}

// event reads what a step did.
func (k *kimi) event(r record, e ordered.Object) {
	switch t := e.Text("type"); t {
	case "step.begin":
		k.settle()
		k.step, k.spare = -1, nil
	case "content.part":
		if block := kimiBlock(e.Raw("part")); block != nil {
			k.say(r.line, r.Raw("time"), block)
		}
	case "tool.call":
		k.open = append(k.open, e.Text("toolCallId"))
		k.say(r.line, r.Raw("time"), content.ToolCall{ID: e.Text("toolCallId"), Name: e.Text("name"),
			Parameters: ordered.First(e.Copy("args"), []byte("{}"))})
	case "tool.result":
		k.answer(r.line, r.Raw("time"), e.Text("toolCallId"), e.Object("result"))
		if k.open = slices.DeleteFunc(k.open, func(id string) bool { return id == e.Text("toolCallId") }); len(k.open) == 0 {
			k.flush()
		}
	case "step.end":
		k.report(e.Raw("usage"), e.Text("messageId"))
	default:
		k.b.unknown(r.line, "event of the unknown type "+ordered.Clip([]byte(t)), e.JSON())
	}
}

// settle ends a step whose calls may have no results: it was interrupted.
func (k *kimi) settle() {
	k.open = nil
	k.Pause()
	k.flush()
}

// flush adds the messages that came while calls were running.
func (k *kimi) flush() {
	later := k.later
	k.later = nil
	for _, m := range later {
		k.message(m.line, m.time, ordered.Of(m.raw))
	}
}

func (k *kimi) end() error {
	k.settle()
	return nil
}

func (k *kimi) say(line int, time []byte, blocks ...content.Block) {
	if k.step < 0 {
		k.Pause()
	}
	meta := stamped(time)
	meta.Text("model", k.model)
	meta.Raw("usage", k.spare) // of a step that was interrupted, none comes at its end
	k.spare = nil
	k.Say(line, meta.JSON(), blocks...)
	if k.step != k.AI {
		k.step = k.AI
		k.context = append(k.context, kimiMessage{entry: k.AI})
	}
	k.context[len(k.context)-1].to = len(k.b.Entries[k.AI].Blocks)
}

// answer adds a result as the model saw it: with a line about it, and one that says that it failed.
func (k *kimi) answer(line int, time []byte, id string, result ordered.Object) {
	const failed = "<system>ERROR: Tool execution failed.</system>"
	output := ordered.First(result.Raw("output"), []byte(`""`))
	blocks := messages.WithResult(content.ToolResponse{CallID: id}, output, kimiMedia)
	response := blocks[0].(content.ToolResponse)
	if text, ok := rawjson.Text(response.Result); ok {
		if note := result.Text("note"); note != "" {
			text = strings.TrimPrefix(text+"\n"+note, "\n")
		}
		if result.True("isError") {
			text = failed + "\n" + text
		}
		response.Result = content.String(text)
	}
	if result.True("isError") {
		response.Error = messages.FlaggedError
	}
	blocks[0] = response
	k.answered(line, time, blocks)
}

func (k *kimi) answered(line int, time []byte, blocks []content.Block) {
	meta := stamped(time)
	k.Answer(line, meta.JSON(), blocks...)
	n := len(k.b.Entries) - 1
	all := len(k.b.Entries[n].Blocks)
	k.context = append(k.context, kimiMessage{entry: n, from: all - len(blocks), to: all})
}

// message adds a message that is no step's.
func (k *kimi) message(line int, time []byte, m ordered.Object) {
	b := k.b
	origin := m.Object("origin")
	var blocks []content.Block
	parts, _ := ordered.Elements(m.Raw("content"))
	for _, raw := range parts {
		if block := kimiBlock(raw); block != nil {
			blocks = append(blocks, block)
		}
	}
	switch role := m.Text("role"); role {
	case messages.Assistant:
		k.step = -1
		blocks = append(blocks, b.kimiCalls(line, m.Raw("toolCalls"))...)
		if len(blocks) > 0 {
			k.say(line, time, blocks...)
		}
		k.step = -1
	case "tool":
		k.answer(line, time, m.Text("toolCallId"), ordered.Object{{Name: "output", Value: m.Raw("content")},
			{Name: "isError", Value: m.Raw("isError")}, {Name: "note", Value: m.Raw("note")}})
	default:
		meta := stamped(time)
		kind := origin.Text("kind")
		byPerson := kind == "" || kind == "user" || origin.Text("trigger") == "user-slash"
		meta.Flag("isMeta", !byPerson)
		k.Ask(line, meta.JSON(), blocks...)
		k.context = append(k.context, kimiMessage{entry: len(b.Entries) - 1, to: len(blocks), anchor: byPerson,
			kept: byPerson && role == messages.User})
	}
}

// kimiCalls reads calls of a whole message, whose arguments are text.
func (b *builder) kimiCalls(line int, raw []byte) (out []content.Block) {
	list, _ := ordered.Elements(raw)
	for _, raw := range list {
		call := ordered.Of(raw)
		parameters, ok := messages.Arguments(call.Raw("arguments"))
		if !ok {
			b.oddity(line, len(b.Entries), "call whose arguments are not JSON",
				"the arguments of the call %q are not JSON; they are kept as text", ordered.Clip([]byte(call.Text("id"))))
		}
		out = append(out, content.ToolCall{ID: call.Text("id"), Name: call.Text("name"), Parameters: parameters})
	}
	return out
}

// kimiBlock reads a part; nil for one without anything, such as a text that did not come.
func kimiBlock(raw []byte) content.Block {
	switch part := ordered.Of(raw); part.Text("type") {
	case "text":
		if part.Text("text") == "" {
			return nil
		}
		return content.Text{Text: part.Text("text")}
	case "think":
		if part.Text("think") == "" && !part.Has("encrypted") {
			return nil
		}
		return content.Thinking{Thought: part.Text("think"), Signature: part.Text("encrypted")}
	default:
		if m, ok := kimiMedia(part); ok {
			return m
		}
		return content.Opaque{JSON: bytes.Clone(raw)}
	}
}

// kimiMedia reads an attachment: "image_url" with its link in a field of that name or, in newer versions, "imageUrl".
func kimiMedia(part ordered.Object) (content.Media, bool) {
	name, ok := strings.CutSuffix(part.Text("type"), "_url")
	link := part.Object(name + "_url").Text("url")
	if link == "" {
		link = part.Object(name + "Url").Text("url")
	}
	return messages.Attachment(link), ok && link != ""
}
