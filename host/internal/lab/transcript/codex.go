package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/host/internal/provider/responses"
	"github.com/thresh-dev/thresh/sdk/content"
)

// isCodexType reports whether t is a record type of Codex rollouts. Only response_item is the model's history.
// event_msg repeats it for the screen: reading both would double every message.
var isCodexType = nameIn("session_meta", "response_item", "event_msg", "turn_context", "compacted")

// codex reads a rollout of Codex. The file has items of the Responses API: reasoning, text and each call are separate
// items.
//
//	{"timestamp": "…", "type": "session_meta", "payload": {"id": "…", "cwd": "/w", "base_instructions": {"text": "…"}}}
//	{"timestamp": "…", "type": "response_item", "payload": {"type": "function_call", "call_id": "c1", "name": "shell",
//	 "arguments": "{…}"}}
//	{"timestamp": "…", "type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1", …}}
//	{"timestamp": "…", "type": "event_msg", "payload": {"type": "token_count", "info": {"last_token_usage": {…}},
//	 "rate_limits": {"primary": {"used_percent": 15.0, "window_minutes": 300, "resets_at": 1781699554}, "secondary": {…}}}}
//	{"timestamp": "…", "type": "compacted", "payload": {"message": "", "replacement_history": […]}}
//
// Consecutive items of the model become one entry, and so do consecutive outputs. Parallel calls thus share an entry,
// as do their results, which is what providers and strategies expect. The form was learnt from published sessions of
// several versions, and from sessions recorded with the agent; the items themselves are documented by OpenAI.
type codex struct {
	speech
	calls int // made so far, for ids of calls that have none
	// reply, done and told find the entry of a report of usage: reports come after the answer, and name no request.
	reply int    // the first entry that answers the request whose usage is not reported yet; -1: none
	done  bool   // that request was answered: what the model says next answers another
	told  int    // the last entry that has usage; -1: none
	after bool   // the items at hand are the context after a compaction
	total []byte // what the session had used at the last report
	fork  fork
	// spare is the last report that no entry took: that of a compaction, whose answer is no item.
	spare ordered.Object
	plan  provider.Plan
}

// codexFields returns the fields of an item of type t that are read. nil means that the item is carried whole.
func codexFields(t string, item ordered.Object) []string {
	k := responses.Item(t)
	switch {
	case t == "message":
		return []string{"role", "content"}
	case t == "reasoning":
		return []string{"summary", "encrypted_content"}
	case k != nil && k.Is == provider.Call && k.Name != "":
		return []string{k.ID, k.Name, k.Value}
	case strings.HasSuffix(t, "_call") && item.Has("action"):
		return []string{"call_id", "action"}
	case strings.HasSuffix(t, "_output"):
		return []string{"call_id", "output", "tools"}
	}
	return nil
}

var isCodexBookkeeping = nameIn("type", "id", "status", "phase", "execution", "metadata",
	"internal_chat_message_metadata_passthrough")

func newCodex(b *builder) lineReader { return &codex{speech: newSpeech(b), reply: -1, told: -1} }

func (c *codex) record(r record) error {
	payload := r.Object.Object("payload")
	if payload == nil {
		return failAt(r.line, ErrMalformed, "a record of type %s has no payload object", ordered.Clip([]byte(r.Text("type"))))
	}
	// Items have no time of their own.
	stamp := r.Raw("timestamp")
	if c.fork.leaves(payload.Text("turn_id"), r.Text("timestamp")) {
		c.Pause()
		c.reply = -1
	}
	switch t := r.Text("type"); t {
	case "session_meta":
		c.session(payload, r.Text("timestamp"))
	case "response_item":
		c.item(r.line, stamp, payload)
	case "compacted":
		c.compacted(r.line, stamp, payload)
	case "event_msg":
		// A task begins with the limit of its model, and each report of usage repeats it.
		c.b.t.window(payload.Raw("model_context_window"))
		if payload.Text("type") == "token_count" {
			c.b.t.window(payload.Object("info").Raw("model_context_window"))
			c.report(payload.Object("info"))
			if told := responses.Limits(payload.Raw("rate_limits")); told != nil {
				at, _ := time.Parse(time.RFC3339, r.Text("timestamp"))
				c.plan.Add(told, at)
				c.b.t.Plan = c.plan.Parts()
			}
			return nil
		}
		c.b.tally.Routine(r.line, -1, "record of type event_msg/"+ordered.Clip([]byte(payload.Text("type")))+
			", which repeats the conversation or reports its progress, left out")
	case "turn_context":
		c.b.t.workedIn(payload.Text("cwd"))
		c.b.t.Model = cmp.Or(payload.Text("model"), c.b.t.Model)
		c.b.aside(r.line, "record of type turn_context")
	case "token_usage_record": // of newer versions
		c.usage(payload.Raw("usage"), payload.Text("response_id"))
	case "world_state":
		c.b.aside(r.line, "record of type world_state")
	default:
		c.b.unknown(r.line, "record of the unknown type "+ordered.Clip([]byte(t)), r.whole)
	}
	return nil
}

// session reads the head of a session. Newer versions record the system prompt as an object, older ones as text.
func (c *codex) session(payload ordered.Object, stamp string) {
	c.fork.head(payload, stamp)
	c.b.t.ID = cmp.Or(c.b.t.ID, payload.Text("id"))
	c.b.t.workedIn(payload.Text("cwd"))
	text := cmp.Or(payload.Object("base_instructions").Text("text"), payload.Text("instructions"))
	if text != "" && len(c.b.System) == 0 { // a resumed session repeats its head; the first one counts
		c.b.Instructions(messages.System, messages.One(content.Text{Text: text}), content.Fields{})
	}
}

// item reads one item of the model's history. Unknown items, such as the encrypted summary of a compaction, are carried
// as blocks of the model: providers accept them only from there.
func (c *codex) item(line int, stamp []byte, item ordered.Object) {
	t := item.Text("type")
	if read := codexFields(t, item); read != nil {
		c.b.unread(line, "an item of type "+ordered.Clip([]byte(t)), item, func(name string) bool {
			return isCodexBookkeeping(name) || slices.Contains(read, name)
		})
	}
	switch {
	case t == "message":
		c.message(line, stamp, item)
	case t == "reasoning":
		c.say(line, stamp, responses.Reasoning(item))
	case t == "function_call" || t == "custom_tool_call":
		c.call(line, stamp, item.Text("call_id"), item.Text("name"), responses.Arguments(item))
	case strings.HasSuffix(t, "_call") && t != "_call":
		c.otherCall(line, stamp, t, item)
	case strings.HasSuffix(t, "_output"):
		c.output(line, stamp, item)
	default:
		c.say(line, stamp, content.Opaque{JSON: item.But().OrEmpty()})
	}
}

// meta marks the context after a compaction as fromCompaction: its entries repeat older ones and are no new turns. What
// a fork copied is marked as fromFork.
func (c *codex) meta(stamp []byte) ordered.Builder {
	var meta ordered.Builder
	meta.Raw("timestamp", stamp)
	meta.Flag("fromCompaction", c.after)
	meta.Flag(fromFork, c.fork.copying)
	return meta
}

// say adds blocks of the model to the entry at hand, or to a new one. Usage will be attached to the first entry after
// an answered request.
func (c *codex) say(line int, stamp []byte, blocks ...content.Block) {
	c.Say(line, c.meta(stamp).JSON(), blocks...)
	if c.reply < 0 || c.done {
		c.reply, c.done = c.AI, false
	}
}

// call adds a tool call. All calls count: ids made for calls without one are unique.
func (c *codex) call(line int, stamp []byte, id, name string, arguments json.RawMessage) {
	c.calls++
	c.say(line, stamp, content.ToolCall{ID: id, Name: name, Parameters: arguments})
}

// otherCall reads calls of built-in tools. A call without a call id, such as a web search, was executed by the
// provider, which records no result. It gets an id and an empty result: otherwise it would look as if it were still
// running, and strategies never touch running calls. No request follows from it: see [ByProvider].
func (c *codex) otherCall(line int, stamp []byte, name string, item ordered.Object) {
	arguments := item.Copy("action")
	if arguments == nil {
		arguments = item.But("type", "status", "id", "metadata").OrEmpty()
	}
	id := item.Text("call_id")
	if id != "" {
		c.call(line, stamp, id, name, arguments)
		return
	}
	id = fmt.Sprintf("prov_%d", c.calls+1)
	c.call(line, stamp, id, name, arguments)
	meta := c.meta(stamp)
	meta.Flag(providerExecuted, true)
	c.Pause()
	c.Answer(line, meta.JSON(), content.ToolResponse{CallID: id, ToolName: name, Result: json.RawMessage("null")})
	c.Pause()
}

// output reads a tool's result. Codex has no error flag: a failure shows only in the text, for example "Process exited
// with code 1", which the tool taxonomy interprets.
func (c *codex) output(line int, stamp []byte, item ordered.Object) {
	// A result ends the answer of the model: what it says next belongs to another request.
	c.done = true
	raw := item.Raw("output")
	if raw == nil {
		raw = item.Raw("tools") // where a tool_search_output has its result
	}
	c.Answer(line, c.meta(stamp).JSON(), messages.WithResult(content.ToolResponse{CallID: item.Text("call_id")}, raw, media)...)
}

// message reads a message item. Instructions (AGENTS.md, the environment) are messages of the user or the developer;
// metadata.role keeps the latter. What the developer said before anyone else is part of the system prompt, which a
// compaction repeats.
func (c *codex) message(line int, stamp []byte, item ordered.Object) {
	blocks := c.b.messageContent(line, item.Raw("content")).Blocks
	role := item.Text("role")
	if role == "assistant" {
		c.say(line, stamp, blocks...)
		return
	}
	c.Pause()
	c.done = true
	switch {
	case c.b.Instructions(role, blocks, content.Fields{}):
		return
	case c.after && role != "user" && c.b.isInstructions(blocks):
		c.b.tally.Routine(line, -1, "message that repeats the system prompt after a compaction left out")
		return
	}
	meta := c.meta(stamp)
	if role != "user" {
		meta.Text("role", role)
		meta.Flag("pinned", messages.Instruction(role))
	}
	c.Ask(line, meta.JSON(), blocks...)
}

// compacted reads a compaction. replacement_history is the model's whole context from there on: kept user messages,
// instructions, and often a summary that only the provider can decrypt. A summary in plain text is used only if there
// is no such list. The entries before are kept in the history, behind a [Boundary].
func (c *codex) compacted(line int, stamp []byte, payload ordered.Object) {
	c.Pause()
	about := payload.But("replacement_history")
	if usage := c.compaction(payload); !c.fork.copying {
		about = append(about, usage...)
	}
	c.b.boundary(BoundaryCompacted, about.OrEmpty())
	c.after = true
	// An empty list is an emptied context, and differs from none.
	list, ok := ordered.Elements(payload.Raw("replacement_history"))
	for _, raw := range list {
		if item := ordered.Of(raw); item != nil {
			c.item(line, stamp, item)
		} else {
			c.say(line, stamp, content.Opaque{JSON: bytes.Clone(raw)})
		}
	}
	if text := payload.Text("message"); !ok && text != "" {
		meta := c.meta(stamp)
		meta.Flag("isSummary", true)
		c.Ask(line, meta.JSON(), content.Text{Text: text})
	}
	c.after = false
	// What the model says next is no part of the old context.
	c.Pause()
	c.reply = -1
}

// end refuses a file with bookkeeping alone: the user has named the wrong file.
func (c *codex) end() error {
	if len(c.b.Entries) == 0 && len(c.b.System) == 0 {
		return fail(ErrEmpty, "it is a Codex rollout without any message")
	}
	return nil
}
