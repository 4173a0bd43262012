package transcript

import (
	"bytes"
	"cmp"
	"net/url"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// isAmp reports whether top is a thread of Amp; first is its first message. The id of a thread begins with "T-".
func isAmp(top, first ordered.Object) bool {
	return strings.HasPrefix(top.Text("id"), "T-") && (first.Has("messageId") || first == nil && top.Has("created"))
}

var (
	isAmpField        = nameIn("id", "created", "messages", "env", "title", "v", "agentMode", "nextMessageId", "meta")
	isAmpMessageField = nameIn("role", "content", "messageId", "state", "usage", "meta", "agentMode", "userState",
		"turnElapsedMs", "interrupted")
)

// readAmp reads a thread of Amp, as it kept threads in files and as it exports them.
//
//	{"v": 42, "id": "T-…", "created": 1768178184664, "env": {"initial": {"trees": [{"uri": "file:///w"}]}},
//	 "messages": [
//	  {"role": "assistant", "messageId": 1, "content": [{"type": "thinking", "thinking": "…", "signature": "…"},
//	   {"type": "tool_use", "id": "c1", "name": "Bash", "input": {…}, "complete": true}],
//	   "state": {"type": "complete"}, "usage": {"model": "m", "inputTokens": 12, "cacheReadInputTokens": 3400, …}},
//	  {"role": "user", "messageId": 2, "content": [{"type": "tool_result", "toolUseID": "c1",
//	   "run": {"status": "done", "result": {…}}}]}]}
//
// Of the usage, "inputTokens" do not include what was cached. Costs are credits, which are no price of a provider. The
// form was learnt from what several projects that read such threads publish about them; Amp itself publishes nothing.
func readAmp(b *builder, d *document) error {
	b.t.Format, b.t.ID = Amp, d.top.Text("id")
	b.t.workedIn(ampDir(d.top.Object("env").Object("initial")))
	b.otherFields(d.top, isAmpField)
	a := amp{newSpeech(b)}
	return d.each("messages", func(i, line int, raw []byte) error {
		m := ordered.Of(raw)
		if m == nil {
			return noObject(line, i, raw)
		}
		a.message(line, m)
		return nil
	})
}

type amp struct{ speech }

// ampDir returns the directory of the first tree in which the agent worked.
func ampDir(initial ordered.Object) string {
	u, err := url.Parse(ordered.FirstObject(initial.Raw("trees")).Text("uri"))
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return u.Path
}

func (a amp) message(line int, m ordered.Object) {
	b := a.b
	b.unread(line, "a message", m, isAmpMessageField)
	usage := m.Object("usage")
	meta := stamped(ordered.First(m.Object("meta").Raw("sentAt"), usage.Raw("timestamp")))
	parts, _ := ordered.Elements(m.Raw("content"))
	switch role := m.Text("role"); role {
	case messages.Assistant:
		blocks := a.said(line, parts)
		if len(blocks) == 0 {
			b.tally.Routine(line, -1, "answer without content left out")
			return
		}
		meta.Raw("model", usage.Raw("model"))
		meta.Raw("usage", m.Raw("usage"))
		b.t.window(usage.Raw("maxInputTokens"))
		a.Pause() // each is a whole answer
		a.Say(line, meta.JSON(), blocks...)
	case "info":
		a.info(line, meta, parts)
	case messages.User:
		var asked []content.Block
		for _, raw := range parts {
			part := ordered.Of(raw)
			if part.Text("type") != "tool_result" {
				asked = append(asked, ampBlocks(raw)...)
				continue
			}
			if answer := ampResult(part); answer != nil {
				a.Answer(line, meta.JSON(), answer...)
			}
		}
		if len(asked) > 0 {
			a.Ask(line, meta.JSON(), asked...)
		}
	default:
		b.unknown(line, "message of the unknown role "+ordered.Clip([]byte(role)), m.JSON())
	}
}

func (a amp) said(line int, parts [][]byte) (blocks []content.Block) {
	for _, raw := range parts {
		if part := ordered.Of(raw); part.Text("type") == "tool_use" {
			// The answer was cancelled within the call, and no provider takes it back.
			if string(part.Raw("complete")) == "false" {
				a.b.tally.Routine(line, -1, "call that was cancelled before it was whole left out")
				continue
			}
			blocks = append(blocks, content.ToolCall{ID: part.Text("id"), Name: part.Text("name"),
				Parameters: part.Copy("input")})
			continue
		}
		blocks = append(blocks, ampBlocks(raw)...)
	}
	return blocks
}

// info reads a message of Amp itself: a summary that replaced what was before it, or something for the screen.
func (a amp) info(line int, meta ordered.Builder, parts [][]byte) {
	for _, raw := range parts {
		part := ordered.Of(raw)
		summary := part.Object("summary")
		if part.Text("type") == "summary" && summary.Text("type") == "message" {
			a.b.boundary(BoundaryCompaction, nil)
			meta.Flag("isSummary", true)
			a.Ask(line, meta.JSON(), content.Text{Text: summary.Text("summary")})
			continue
		}
		a.b.unknown(line, "part "+ordered.Clip([]byte(part.Text("type")))+" of a message of the agent", raw)
	}
}

// ampBlocks reads a part in Anthropic's form. Thinking names its provider, and images have a name of their own for the
// type.
func ampBlocks(raw []byte) []content.Block {
	part := ordered.Of(raw)
	switch source := part.Object("source"); {
	case part.Text("type") == "thinking":
		return messages.One(content.Thinking{Thought: part.Text("thinking"), Signature: part.Text("signature")})
	case part.Text("type") == "text":
		return messages.One(content.Text{Text: part.Text("text")})
	case part.Text("type") == "image" && source.Has("mediaType"):
		return messages.One(content.Media{MimeType: source.Text("mediaType"), Encoding: "base64", Data: source.Text("data")})
	}
	return blocksOf(raw)
}

// ampResult returns the result of a call; nil for one that was still running.
func ampResult(part ordered.Object) []content.Block {
	run := part.Object("run")
	r := content.ToolResponse{CallID: cmp.Or(part.Text("toolUseID"), part.Text("tool_use_id"))}
	switch status := run.Text("status"); status {
	case "done":
		return messages.WithResult(r, ordered.First(run.Raw("result"), []byte(`""`)), ampMedia)
	case "error", "cancelled", "rejected-by-user":
		failure := run.Object("error").Text("message")
		if text, ok := rawjson.Text(run.Raw("error")); ok {
			failure = text
		}
		r.Error = cmp.Or(failure, run.Text("reason"), status)
		r.Result = content.String(r.Error)
		if result := run.Raw("result"); !rawjson.IsNull(result) {
			r.Result = bytes.Clone(result)
		}
		return messages.One(r)
	}
	return nil
}

func ampMedia(o ordered.Object) (content.Media, bool) {
	if m, ok := blocksOf(o.JSON())[0].(content.Media); ok {
		return m, true
	}
	m, ok := ampBlocks(o.JSON())[0].(content.Media)
	return m, ok
}
