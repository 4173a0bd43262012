package gen

import (
	"encoding/json"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Options say what [History] puts into a history. The zero value makes well-formed histories of text and tool calls.
type Options struct {
	// MaxEntries is about the largest number of entries; 0 means 24.
	MaxEntries int
	// Malformed adds null and unknown blocks, unknown speakers, entries without blocks, orphaned responses and
	// unknown fields.
	Malformed bool
	// MediaBlocks adds images and documents.
	MediaBlocks bool
}

// History generates histories in which people, a model and its tools work on a handful of files, so that reads,
// writes and repeated calls of the same file occur.
func History(o Options) *rapid.Generator[[]content.Content] {
	if o.MaxEntries == 0 {
		o.MaxEntries = 24
	}
	return rapid.Custom(func(t *rapid.T) []content.Content {
		h := builder{t: t, o: o}
		// An exchange has three entries on average.
		for range rapid.IntRange(0, o.MaxEntries/3).Draw(t, "exchanges") {
			h.exchange()
		}
		return h.entries
	})
}

// Text generates text: blank, plain, many lines, JSON-like, with file inclusions, and Unicode that breaks naive code.
// The fixed texts each broke something once: line breaks of other systems and scripts, directions, marks that combine,
// escapes that look like escapes.
func Text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", " \n\t", "done", "line\nline\r\nline\n", "a\u2028b\u2029c", "\u202eabc\ufeff",
			"e\u0301\u200d\U0001f469\u200d\U0001f4bb",
			"\x00\x1b[31m\x7f", `{"a": [1, "]}`, "\\u0041 \\\" </script> <&>",
			"--- src/a.go ---\npackage a\n--- End of content ---",
			"see:\r\n--- src/b.go ---\r\nx\r\n--- End of content ---\r\nthanks", strings.Repeat("z", 300),
		}),
		rapid.String(),
	)
}

// JSON generates raw JSON values, with numbers of many digits, keys out of order, and nesting. All of them are valid,
// and none may be changed on its way: a number with more digits than a float64 holds must keep them.
func JSON() *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage { return appendJSON(t, nil, 3) })
}

// appendJSON appends a value that is nested at most depth levels deep.
func appendJSON(t *rapid.T, dst []byte, depth int) []byte {
	// Lists and objects only above the last level, so that the recursion ends.
	kinds := 4
	if depth == 0 {
		kinds = 2
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind of JSON") {
	case 0:
		scalars := []string{"null", "true", "false", "0", "-0", "1.10", "1E+2", "12345678901234567890123", `"\ud800"`,
			`"\u00e9"`}
		return append(dst, rapid.SampledFrom(scalars).Draw(t, "scalar")...)
	case 1:
		return append(dst, content.String(Text().Draw(t, "string"))...)
	case 2:
		dst = append(dst, '[')
		for i := range rapid.IntRange(0, 3).Draw(t, "elements") {
			if i > 0 {
				dst = append(dst, ',', ' ')
			}
			dst = appendJSON(t, dst, depth-1)
		}
		return append(dst, ']')
	default:
		dst = append(dst, '{')
		for i := range rapid.IntRange(0, 3).Draw(t, "fields") {
			if i > 0 {
				dst = append(dst, ',')
			}
			// Descending names: an encoder that sorts keys changes such an object.
			dst = append(dst, content.String(fmt.Sprintf("%c%d", 'z'-i, i))...)
			dst = append(dst, ':')
			dst = appendJSON(t, dst, depth-1)
		}
		return append(dst, '}')
	}
}

// builder appends exchanges to a history. Every choice is drawn from t, so that rapid can shrink a failing history.
type builder struct {
	t       *rapid.T
	o       Options
	entries []content.Content
	// calls counts the calls so far and makes their ids.
	calls int
}

// add appends an entry, with metadata in about half of the cases: timestamps and usage must not influence what a
// strategy does.
func (h *builder) add(speaker content.Speaker, blocks ...content.Block) {
	c := content.Content{Speaker: speaker, Blocks: blocks}
	if h.flip("metadata") {
		c.Metadata = json.RawMessage(`{"timestamp":"2026-02-03T04:05:06Z","usage":{"input_tokens":12.50}}`)
	}
	h.entries = append(h.entries, c)
}

// flip draws a boolean. rapid shrinks towards false, so false should be the simpler case.
func (h *builder) flip(label string) bool { return rapid.Bool().Draw(h.t, label) }

// text draws a text block, which may be blank.
func (h *builder) text(label string) content.Text {
	return content.Text{Text: Text().Draw(h.t, label)}
}

// exchange appends a message of a person, a use of tools (twice as likely), or something malformed. A uniform draw of 0
// to 2 or 3: two of its values stand for tools.
func (h *builder) exchange() {
	kinds := 3
	if h.o.Malformed {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(h.t, "exchange") {
	case 0:
		h.human()
	case 3:
		h.malformed()
	default:
		h.toolUse()
	}
}

// human appends a message, perhaps with an attachment, perhaps with an answer.
func (h *builder) human() {
	blocks := []content.Block{h.text("question")}
	if h.o.MediaBlocks && h.flip("media") {
		blocks = append(blocks, rapid.SampledFrom([]content.Block{
			content.Media{MimeType: "image/png", Data: "aGVsbG8=", Encoding: "base64"},
			content.Media{MimeType: "image/jpeg", Data: "https://example.com/i.jpg", Encoding: "url", Caption: "a cat"},
			content.Media{MimeType: "application/pdf", Data: "JVBERi0=", Encoding: "base64", Filename: "d.pdf"},
		}).Draw(h.t, "attachment"))
	}
	h.add(content.Human, blocks...)
	if h.flip("answered") {
		h.add(content.AI, h.text("answer"))
	}
}

// toolUse appends an entry with calls, and their responses: all in one entry or each in its own. About one in ten
// stays unanswered.
func (h *builder) toolUse() {
	var asked, answers []content.Block
	if h.flip("thinks") {
		asked = append(asked, content.Thinking{Thought: "hm", Signature: "c2ln"})
	}
	if h.flip("speaks") {
		asked = append(asked, h.text("preamble"))
	}
	for range rapid.IntRange(1, 3).Draw(h.t, "calls") {
		call := h.call()
		asked = append(asked, call)
		if rapid.IntRange(0, 9).Draw(h.t, "answered") > 0 {
			answers = append(answers, h.answer(call))
		}
	}
	h.add(content.AI, asked...)
	switch {
	case len(answers) == 0:
	case h.flip("one entry"):
		h.add(content.Tool, answers...)
	default:
		for _, b := range answers {
			h.add(content.Tool, b)
		}
	}
}

// call makes a call. One in ten repeats an earlier id, one in ten has arbitrary JSON for parameters.
func (h *builder) call() content.ToolCall {
	h.calls++
	id := fmt.Sprintf("call_%d", h.calls)
	if rapid.IntRange(0, 9).Draw(h.t, "repeated id") == 0 {
		id = "call_1"
	}
	// The first name stands twice and is drawn twice as often. The last one is no tool of any preset.
	name := rapid.SampledFrom([]string{"read_file", "read_file", "write_file", "replace", "run_shell_command",
		"web\u00e9"}).Draw(h.t, "tool")
	call := content.ToolCall{ID: id, Name: name}
	if rapid.IntRange(0, 9).Draw(h.t, "odd parameters") == 0 {
		call.Parameters = JSON().Draw(h.t, "parameters")
		return call
	}
	key := rapid.SampledFrom([]string{"file_path", "absolute_path", "path"}).Draw(h.t, "path key")
	// The first three are the same file in the workspace /w, and must be recognised as one.
	path := rapid.SampledFrom([]string{"src/a.go", "./src/../src/a.go", "/w/src/a.go", "src/b.go",
		"README.md"}).Draw(h.t, "path")
	call.Parameters = fmt.Appendf(nil, `{"%s":%s}`, key, content.String(path))
	return call
}

// answer makes the response to a call; one in five reports a failure. A failed call may still have a result.
func (h *builder) answer(call content.ToolCall) content.ToolResponse {
	r := content.ToolResponse{CallID: call.ID, ToolName: call.Name}
	if h.flip("text result") {
		r.Result = content.String(Text().Draw(h.t, "result"))
	} else {
		r.Result = JSON().Draw(h.t, "result")
	}
	if rapid.IntRange(0, 4).Draw(h.t, "failed") == 0 {
		r.Error = "exit status 1"
	}
	return r
}

// malformed appends one entry that no well-behaved agent would send.
func (h *builder) malformed() {
	switch rapid.IntRange(0, 4).Draw(h.t, "malformed") {
	// An entry without blocks.
	case 0:
		h.entries = append(h.entries, content.Content{Speaker: content.AI})
	case 1:
		// A speaker of which nothing is known.
		h.add("narrator", h.text("aside"))
	case 2:
		// A response that no call asked for.
		h.add(content.Tool, content.ToolResponse{CallID: "nobody", ToolName: "read_file", Result: content.String("x")})
	case 3:
		h.add(content.AI, content.Opaque{JSON: json.RawMessage(`null`)},
			content.Opaque{JSON: json.RawMessage(`{"type":"hologram","depth":1.50}`)})
	default:
		h.add(content.Human, content.Text{Text: "x",
			Extra: content.FieldsOf(content.Field{Name: "cache", Value: JSON().Draw(h.t, "extra")})})
		note := content.Field{Name: "note", Value: JSON().Draw(h.t, "extra")}
		h.entries[len(h.entries)-1].Extra = content.FieldsOf(note)
	}
}
