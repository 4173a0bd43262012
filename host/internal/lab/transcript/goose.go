package transcript

import (
	"cmp"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// isGooseHead reports whether o is about a session of goose: the object that it exports, or the first line of a session
// in a file.
func isGooseHead(o ordered.Object) bool {
	return o.Has("working_dir") && (ordered.Kind(o.Raw("conversation")) == '[' || o.Has("message_count"))
}

var (
	isGooseField = nameIn("id", "working_dir", "conversation", "usage_ledger", "model_config", "name", "description",
		"user_set_name", "session_type", "created_at", "updated_at", "usage", "accumulated_usage", "accumulated_cost",
		"message_count", "last_message_at", "provider_name", "goose_mode", "schedule_id", "total_tokens", "input_tokens",
		"output_tokens", "accumulated_total_tokens", "accumulated_input_tokens", "accumulated_output_tokens")
	isGooseMessageField = nameIn("id", "role", "created", "content", "metadata")
)

// goose reads a session of goose, as "goose session export --format json" prints it, and as its older versions kept it
// in a file of one message a line. The database is converted to the former, with what it has of usage beside.
//
//	{"id": "20260102_1", "working_dir": "/w", "conversation": [
//	  {"role": "assistant", "created": 1767312000, "content": [{"type": "toolRequest", "id": "c1",
//	   "toolCall": {"status": "success", "value": {"name": "developer__shell", "arguments": {…}}}}],
//	   "metadata": {"userVisible": true, "agentVisible": true}},
//	  {"role": "user", "content": [{"type": "toolResponse", "id": "c1",
//	   "toolResult": {"status": "success", "value": {"content": [{"type": "text", "text": "…"}], "isError": false}}}]}],
//	 "usage_ledger": [{"model": "m", "input_tokens": 9, "cache_read_tokens": 4, "output_tokens": 2, "cost": 0.1}]}
//
// A compaction hides what it stands for from the model, and adds a summary that is hidden from the person. The ledger
// has a row for each request, in order, whose "input_tokens" include what was cached. The reader was written after
// the agent's code.
type goose struct {
	speech
	replies   []int // the entries that answered a request
	answering bool  // the last message was the model's
}

func newGoose(b *builder) *goose { return &goose{speech: newSpeech(b)} }

func readGoose(b *builder, d *document) error {
	b.t.Format = Goose
	g := newGoose(b)
	g.head(d.top)
	b.otherFields(d.top, isGooseField)
	list, _ := ordered.Elements(d.top.Raw("conversation"))
	next := func(i int) ordered.Object {
		if i+1 < len(list) {
			return ordered.Of(list[i+1])
		}
		return nil
	}
	err := d.each("conversation", func(i, line int, raw []byte) error {
		m := ordered.Of(raw)
		if m == nil {
			return noObject(line, i, raw)
		}
		// The summary and what goose says about it to the model; a person sees neither.
		compacts := gooseOwn(m) && gooseOwn(next(i)) && m.Text("role") == messages.User &&
			next(i).Text("role") == messages.Assistant
		if compacts {
			b.boundary(BoundaryCompaction, nil)
		}
		g.message(line, m, compacts)
		return nil
	})
	if err == nil {
		g.ledger(d.top)
	}
	return err
}

func (g *goose) head(o ordered.Object) {
	g.b.t.ID = cmp.Or(g.b.t.ID, o.Text("id"))
	g.b.t.workedIn(o.Text("working_dir"))
	g.b.t.window(o.Object("model_config").Raw("context_limit"))
	g.b.t.Model = o.Object("model_config").Text("model_name")
}

// record reads a line of a session in a file.
func (g *goose) record(r record) error {
	if isGooseHead(r.Object) {
		g.head(r.Object)
		return nil
	}
	g.message(r.line, r.Object, false)
	return nil
}

// gooseOwn reports whether a person does not see a message.
func gooseOwn(m ordered.Object) bool {
	return string(m.Object("metadata").Raw("userVisible")) == "false"
}

// gooseNotice reports whether a message only tells the person something.
func gooseNotice(m ordered.Object) bool {
	parts, _ := ordered.Elements(m.Raw("content"))
	return !slices.ContainsFunc(parts, func(raw []byte) bool {
		t := ordered.Of(raw).Text("type")
		return t != "systemNotification" && t != "actionRequired"
	})
}

func (g *goose) message(line int, m ordered.Object, summary bool) {
	b := g.b
	b.unread(line, "a message", m, isGooseMessageField)
	if gooseNotice(m) {
		b.aside(line, "message to the person")
		return
	}
	meta := stamped(m.Raw("created"))
	meta.Flag("isSummary", summary)
	// What goose says in the model's place answers no request.
	own := gooseOwn(m) && m.Text("role") == messages.Assistant
	meta.Flag("fromCompaction", own)
	parts, _ := ordered.Elements(m.Raw("content"))
	var said []content.Block
	for _, raw := range parts {
		part := ordered.Of(raw)
		switch t := part.Text("type"); t {
		case "toolRequest", "frontendToolRequest":
			said = append(said, gooseCall(part))
		case "toolResponse":
			g.answering = false
			g.Answer(line, meta.JSON(), gooseResult(part)...)
		case "systemNotification", "actionRequired", "toolConfirmationRequest", "conversationCompacted":
			b.aside(line, "part of type "+t)
		default:
			if block := gooseBlock(t, part); block != nil {
				said = append(said, block)
				continue
			}
			b.unknown(line, "part of the unknown type "+ordered.Clip([]byte(t)), raw)
		}
	}
	switch {
	case len(said) == 0:
	case m.Text("role") == messages.Assistant:
		// An answer may be several messages, for its text and for each of its calls.
		if g.Say(line, meta.JSON(), said...); !g.answering && !own {
			g.replies = append(g.replies, g.AI)
		}
		if g.answering = !own; own {
			g.Pause()
		}
	default:
		g.answering = false
		g.Ask(line, meta.JSON(), said...)
	}
}

// gooseBlock reads what a person or the model said; nil for a part of another type.
func gooseBlock(t string, part ordered.Object) content.Block {
	switch t {
	case "text":
		return content.Text{Text: part.Text("text")}
	case "thinking":
		return content.Thinking{Thought: part.Text("thinking"), Signature: part.Text("signature")}
	case "reasoning":
		return content.Thinking{Thought: part.Text("text")}
	case "redactedThinking":
		return content.Opaque{JSON: ordered.Object{{Name: "type", Value: []byte(`"redacted_thinking"`)},
			{Name: "data", Value: content.String(part.Text("data"))}}.JSON()}
	}
	if m, ok := piMedia(part); ok {
		return m
	}
	return nil
}

func gooseCall(part ordered.Object) content.Block {
	call := part.Object("toolCall")
	value := call.Object("value")
	c := content.ToolCall{ID: part.Text("id"), Name: value.Text("name"), Parameters: value.Copy("arguments")}
	if c.Parameters == nil {
		c.Parameters = []byte("{}")
	}
	// The model's arguments were no JSON, and goose kept what was wrong with them.
	if text := call.Text("error"); text != "" {
		c.Name, c.Parameters = cmp.Or(c.Name, "unknown"), ordered.Object{{Name: "error", Value: content.String(text)}}.JSON()
	}
	return c
}

func gooseResult(part ordered.Object) []content.Block {
	result := part.Object("toolResult")
	r := content.ToolResponse{CallID: part.Text("id")}
	if result.Text("status") == "error" {
		r.Error = cmp.Or(result.Text("error"), messages.FlaggedError)
		r.Result = content.String(r.Error)
		return messages.One(r)
	}
	value := result.Raw("value")
	if about := ordered.Of(value); about != nil { // older versions have the list itself
		if value = about.Raw("content"); about.True("isError") {
			r.Error = messages.FlaggedError
		}
	}
	return messages.WithResult(r, gooseForModel(value), piMedia)
}

// gooseForModel leaves out what a tool gave for the person alone.
func gooseForModel(list []byte) []byte {
	parts, ok := ordered.Elements(list)
	if !ok {
		return list
	}
	out := []byte("[")
	for _, raw := range parts {
		audience, told := ordered.Elements(ordered.Of(raw).Object("annotations").Raw("audience"))
		model := func(a []byte) bool { return string(a) == `"assistant"` }
		if told && len(audience) > 0 && !slices.ContainsFunc(audience, model) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	return append(out, ']')
}

// ledger gives the requests their usage. A row names no message, so rows count only if there is one for each answer.
func (g *goose) ledger(top ordered.Object) {
	b := g.b
	rows, _ := ordered.Elements(top.Raw("usage_ledger"))
	var answers, compactions []ordered.Object
	carried := 0 // sums of what was before there was a ledger
	for _, raw := range rows {
		row := ordered.Of(raw)
		about := ordered.Object{{Name: "model", Value: row.Raw("model")}, {Name: "usage", Value: row.But("id",
			"session_id", "created_timestamp", "model", "total_tokens", "is_compaction", "cost_source").OrEmpty()}}
		switch {
		case row.Text("cost_source") == "carried_forward":
			carried++
		case string(row.Raw("is_compaction")) == "1":
			compactions = append(compactions, about)
		default:
			answers = append(answers, about)
		}
	}
	if len(rows) > 0 && (carried > 0 || len(answers) != len(g.replies)) {
		b.note(0, -1, "the usage of this session is not read: goose recorded %d requests, and there are %d answers",
			len(answers)+carried, len(g.replies))
		return
	}
	for i, about := range answers {
		entry := &b.Entries[g.replies[i]]
		entry.Metadata = append(ordered.Of(entry.Metadata), about...).JSON()
	}
	for i, about := range compactions {
		if i < len(b.t.Boundaries) {
			b.t.Boundaries[i].Meta = about.JSON()
		}
	}
}
