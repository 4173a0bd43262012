package transcript

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// isGooseHead reports whether o is the first line of a session of Goose before it had a database.
func isGooseHead(o object) bool { return o.has("working_dir") && !o.has("role") && !o.has("type") }

// isGooseMessage reports whether o is a message of Goose: one with the time in seconds, and a list of its contents.
func isGooseMessage(o object) bool {
	first := kind(o.raw("created"))
	return first >= '0' && first <= '9' && o.has("role") && kind(o.raw("content")) == '['
}

// goose reads a session of Goose. Results are messages of the user, as in Anthropic's API, but calls and results have a
// form of their own:
//
//	{"role": "assistant", "created": 1740171567, "content": [{"type": "toolRequest", "id": "c1",
//	 "toolCall": {"status": "success", "value": {"name": "developer__shell", "arguments": {…}}}}]}
//	{"role": "user", "created": 1740171568, "content": [{"type": "toolResponse", "id": "c1",
//	 "toolResult": {"status": "success", "value": {"content": [{"type": "text", "text": "…"}]}}}],
//	 "metadata": {"userVisible": true, "agentVisible": true}}
//
// An export is a document with such messages in "conversation"; the files of versions without a database have one a
// line, behind a line about the session. Left out are questions for leave, notices, and contents of results that are
// meant for the person alone: the model saw none of them. The reader was tested with samples made by hand; no recorded
// session was at hand.
type goose struct {
	b *builder
	// seen says whether the message before was still in the model's context when the session was recorded; hidden, that
	// the person did not see it.
	seen, hidden bool
}

func newGoose(b *builder) *goose { return &goose{b: b, seen: true} }

// readGoose reads what "goose session export --format json" prints: messages in the field list, or the list itself.
func readGoose(list string) documentReader {
	return func(b *builder, d *document) error {
		g := newGoose(b)
		g.head(d.top)
		err := d.each(list, func(_, line int, raw []byte) error {
			return g.record(record{line: line, whole: raw, object: asObject(raw)})
		})
		if err != nil {
			return err
		}
		return g.end()
	}
}

// head takes in what is said of the session. The first to say something about the session counts, but for the context
// limit, which follows the model.
func (g *goose) head(o object) {
	g.b.t.ID = firstText(g.b.t.ID, o.text("id"))
	g.b.t.workedIn(o.text("working_dir"))
	model := o.object("model_config")
	g.b.t.Model = firstText(g.b.t.Model, model.text("model_name"))
	g.b.t.window(model.raw("context_limit"))
}

// isGooseField reports whether a field of a message is known.
var isGooseField = nameIn("id", "role", "created", "content", "metadata")

func (g *goose) record(r record) error {
	if isGooseHead(r.object) {
		g.head(r.object)
		return nil
	}
	b, about := g.b, r.object.object("metadata")
	b.unread(r.line, "a message", r.object, isGooseField)
	// "created" is in seconds; [Time] tells it from milliseconds.
	meta := stamped(r.raw("created"))
	// A compaction hides the messages before it from the model, and goes on with messages that it hides from the
	// person.
	hidden := string(about.raw("userVisible")) == "false"
	// Three signs together, since a message may be hidden from the person for other reasons.
	if hidden && !g.hidden && !g.seen {
		b.boundary(BoundaryCompaction, nil)
		meta.flag("isSummary", true)
	}
	// Absent, as in older versions, means visible to both.
	g.seen, g.hidden = string(about.raw("agentVisible")) != "false", hidden
	var p pieces
	list, _ := elements(r.raw("content"))
	for _, raw := range list {
		g.content(r.line, &p, asObject(raw), raw)
	}
	switch {
	case len(p.blocks) == 0 && len(list) > 0: // a notice to the person
	case strings.EqualFold(r.text("role"), roleAssistant):
		meta.raw("model", firstOf(about.object("inference").raw("resolvedModel"), about.raw("model")))
		meta.raw("usage", about.raw("usage"))
		b.add(r.line, content.Content{Speaker: content.AI, Blocks: p.blocks, Metadata: meta.json()})
	default:
		b.userEntries(r.line, p, content.Content{Metadata: meta.json()})
	}
	return nil
}

// content reads one content of a message. Calls and results may fail before they are run, which is why each is wrapped
// in a status.
func (g *goose) content(line int, p *pieces, o object, raw []byte) {
	switch t := o.text("type"); t {
	case "toolRequest", "frontendToolRequest":
		call := o.object("toolCall")
		value := call.object("value")
		if value == nil {
			// The model's call could not be read; the result says why.
			value = object{{name: "name", value: content.String("invalid")}, {name: "arguments", value: []byte("{}")}}
		}
		p.add(false, content.ToolCall{ID: o.text("id"), Name: value.text("name"),
			Parameters: value.copyOf("arguments")})
	case "toolResponse":
		p.add(true, gooseResult(o)...)
	case "image":
		p.add(false, gooseImage(o))
	case "redactedThinking":
		p.add(false, content.Opaque{JSON: object{{name: "type", value: content.String("redacted_thinking")},
			o.field("data")}.json()})
	case "toolConfirmationRequest", "actionRequired", "systemNotification", "conversationCompacted",
		"contextLengthExceeded", "summarizationRequested", "reasoning":
		g.b.tally.routine(line, -1, "content of type "+t+", which is only for the screen, left out")
	// Text and thinking have Anthropic's form; anything else is carried unchanged.
	default:
		p.add(false, anthropicBlock(raw)...)
	}
}

// gooseResult reads the result of a call: contents of MCP, of which some are meant for the person alone.
func gooseResult(o object) []content.Block {
	result := o.object("toolResult")
	r := content.ToolResponse{CallID: o.text("id")}
	value := result.raw("value")
	// Newer versions have the list inside of an object.
	if inner := asObject(value); inner != nil {
		value = inner.raw("content")
		if inner.isTrue("isError") {
			r.Error = flaggedError
		}
	}
	// The call could not be run at all. The model then saw the error in place of a result.
	if result.text("status") == "error" {
		r.Error = firstText(result.text("error"), r.Error, flaggedError)
		if rawjson.IsNull(value) {
			value = content.String(r.Error)
		}
	}
	parts, isList := elements(value)
	kept := slices.DeleteFunc(parts, func(part []byte) bool {
		// Contents without an audience are for everyone.
		audience, told := elements(asObject(part).object("annotations").raw("audience"))
		return told && !slices.ContainsFunc(audience, func(a []byte) bool { return asText(a) == roleAssistant })
	})
	if isList {
		value = list(kept)
	}
	var media []content.Block
	r.Result, media = resultOf(value, func(o object) (content.Media, bool) {
		m := gooseImage(o)
		return m, o.text("type") == "image" && m.Data != ""
	})
	return append(one(r), media...)
}

// gooseImage reads an image in the form of MCP.
func gooseImage(o object) content.Media {
	return content.Media{MimeType: o.text("mimeType"), Data: o.text("data"), Encoding: "base64"}
}

func (g *goose) end() error {
	g.b.t.Format = Goose
	return nil
}
