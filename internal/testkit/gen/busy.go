package gen

import (
	"encoding/json"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Busy draws histories in which much can be pruned: few files, long texts, late responses. Half of them are worse than
// what agents leave: repeated ids, lost responses, responses without a call, inclusions that do not pair, unknown
// speakers, entries without blocks.
func Busy() *rapid.Generator[[]content.Content] {
	return rapid.Custom(func(t *rapid.T) []content.Content {
		g := &writer{t: t, messy: rapid.Bool().Draw(t, "messy")}
		for range rapid.IntRange(0, 14).Draw(t, "turns") {
			g.turn()
		}
		return g.history
	})
}

// It draws a history turn by turn. Every choice goes through t, so that rapid can repeat a failing history and make it
// smaller.
type writer struct {
	t       *rapid.T
	messy   bool
	history []content.Content
	// How many calls were drawn, for their ids.
	calls int
	// They come in a later exchange, as parallel tools and agents that restart leave them.
	late []content.Block // responses that are yet to come
}

// oneIn is true in one of n draws. rapid shrinks draws towards 0, and so towards true.
func (g *writer) oneIn(n int) bool { return rapid.IntRange(0, n-1).Draw(g.t, "chance") == 0 }

func (g *writer) pick(of ...string) string { return rapid.SampledFrom(of).Draw(g.t, "pick") }

// add appends an entry, of which some have metadata: whatever a strategy does must leave it where it is.
func (g *writer) add(speaker content.Speaker, blocks ...content.Block) {
	e := content.Content{Speaker: speaker, Blocks: blocks}
	if g.oneIn(4) {
		e.Metadata = json.RawMessage(fmt.Sprintf(`{"timestamp":%d}`, len(g.history)))
	}
	g.history = append(g.history, e)
}

// path draws from few names, some of which are the same file written in another way: with many files nothing would ever
// supersede anything.
func (g *writer) path() string {
	return g.pick("a.go", "./a.go", "/w/a.go", "b.go", "sub/../b.go", "c.go")
}

// words draws a text whose length in bytes, characters and tokens differs, since limits are in all three.
func (g *writer) words() string {
	return strings.Repeat(g.pick("one ", "zwei\n", "三 ", "x"), rapid.IntRange(0, 60).Draw(g.t, "words"))
}

// turn adds one message or exchange; only messy histories have what providers would refuse.
func (g *writer) turn() {
	switch {
	case g.messy && g.oneIn(12):
		g.add(content.Speaker(g.pick("system", "")), content.Text{Text: g.words()})
	case g.messy && g.oneIn(12):
		g.add(content.Speaker(g.pick("human", "ai", "tool")))
	case g.messy && g.oneIn(12):
		g.add(content.Tool, g.response(content.ToolCall{ID: "lost", Name: "glob"}))
	case g.oneIn(3):
		g.human()
	case g.oneIn(5):
		g.add(content.AI, content.Text{Text: g.words()})
	default:
		g.exchange()
	}
}

// human draws a person's message with files that were included in it. Line ends of both kinds occur in one session, and
// in a messy history an inclusion may have no end.
func (g *writer) human() {
	var blocks []content.Block
	for range rapid.IntRange(1, 2).Draw(g.t, "texts") {
		eol := g.pick("\n", "\r\n")
		var b strings.Builder
		b.WriteString(g.words() + eol)
		for range rapid.IntRange(0, 2).Draw(g.t, "inclusions") {
			b.WriteString("--- " + g.path() + " ---" + eol + g.words() + eol)
			if !g.messy || !g.oneIn(6) {
				b.WriteString("--- End of content ---" + eol)
			}
			b.WriteString(g.words() + eol)
		}
		blocks = append(blocks, content.Text{Text: b.String()})
	}
	g.add(content.Human, blocks...)
}

// exchange draws an answer with calls and the results of them, which come in one entry or in several, now or later.
func (g *writer) exchange() {
	var said []content.Block
	if g.oneIn(3) {
		said = append(said, content.Thinking{Thought: g.words(), Signature: "s"})
	}
	if g.oneIn(3) {
		said = append(said, content.Text{Text: g.words()})
	}
	var answers []content.Block
	for range rapid.IntRange(1, 3).Draw(g.t, "calls") {
		call := g.call()
		said = append(said, call)
		switch answer := g.response(call); {
		case g.messy && g.oneIn(8): // never answered
		case g.messy && g.oneIn(8):
			g.late = append(g.late, answer)
		default:
			answers = append(answers, answer)
		}
	}
	g.add(content.AI, said...)
	if g.oneIn(3) {
		answers = append(answers, g.late...)
		g.late = nil
	}
	if g.messy && g.oneIn(6) {
		answers = append(answers, content.Opaque{JSON: json.RawMessage(g.pick("null", `{"type":"new","x":1}`))},
			content.Text{Text: " "})
	}
	switch {
	case len(answers) == 0:
	case g.oneIn(2):
		g.add(content.Tool, answers...)
	default:
		for _, a := range answers {
			if g.messy && g.oneIn(10) {
				g.human()
			}
			g.add(content.Tool, a)
		}
	}
}

// call draws a call of a tool that reads, writes or runs, in the words of the default taxonomy. In a messy history ids
// repeat.
func (g *writer) call() content.ToolCall {
	g.calls++
	id := fmt.Sprint("c", g.calls)
	if g.messy && g.oneIn(3) {
		id = "same"
	}
	call := content.ToolCall{ID: id, Name: g.pick("read_file", "read_file", "write_file", "replace", "read_many_files",
		"run_shell_command")}
	switch call.Name {
	case "read_many_files":
		call.Parameters = json.RawMessage(fmt.Sprintf(`{"paths":[%q,%q]}`, g.path(), g.pick("a.go", "b.go", "*.go")))
	case "run_shell_command":
		call.Parameters = json.RawMessage(fmt.Sprintf(`{"command":%q}`, g.words()))
	default:
		call.Parameters = json.RawMessage(fmt.Sprintf(`{"file_path":%q}`, g.path()))
	}
	return call
}

// response draws a result: a text, an object, a failure, or in a messy history none.
func (g *writer) response(call content.ToolCall) content.ToolResponse {
	r := content.ToolResponse{CallID: call.ID, ToolName: call.Name}.WithResultText(g.words())
	switch {
	case g.oneIn(8):
		r.Error = "it failed"
	case g.oneIn(8):
		r.Result = json.RawMessage(fmt.Sprintf(`{"output":%q,"code":0}`, g.words()))
	case g.messy && g.oneIn(8):
		r.Result = nil
	}
	return r
}

// Call is an entry of the AI that calls one tool.
func Call(id, tool, params string) content.Content {
	return content.Content{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: id, Name: tool,
		Parameters: json.RawMessage(params)}}}
}

// Answer is the entry that answers such a call.
func Answer(id, tool, result string) content.Content {
	return content.Content{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: id,
		ToolName: tool}.WithResultText(result)}}
}

// Said is an entry with one text.
func Said(by content.Speaker, text string) content.Content {
	return content.Content{Speaker: by, Blocks: []content.Block{content.Text{Text: text}}}
}
