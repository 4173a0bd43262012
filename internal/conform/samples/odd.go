package samples

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// orphans: responses without a call, before and after everything else, and a call that is answered twice. Recorders
// that truncate a session at its beginning produce these, and providers reject them.
func orphans() []content.Content {
	// The call is never part of the history.
	lost := read("lost", "a.go")
	return []content.Content{
		tool(answer(lost, "nobody asked")), human("hi"), tool(answer(lost, "nobody asked again")),
		ai(read("x", "a.go")), tool(answer(read("x", "a.go"), "package a")), tool(answer(read("x", "a.go"),
			"answered twice")), ai(text("done")),
	}
}

// unanswered: one of two parallel calls never gets a response, and the last call is still pending, as after an
// interruption by the user.
func unanswered() []content.Content {
	return []content.Content{
		human("read both"), ai(read("p", "a.go"), read("q", "b.go")), tool(answer(read("q", "b.go"), "package b")),
		human("never mind a.go"), ai(read("r", "c.go")),
	}
}

// repeatedIDs: an agent that uses the same call id for every call, also for two calls in one entry.
func repeatedIDs() []content.Content {
	var out []content.Content
	for i := range 6 {
		c := read("same", fmt.Sprintf("file%d.go", i%2))
		out = append(out, human(fmt.Sprint("again, ", i)), ai(c), tool(answer(c, fmt.Sprint("content ", i))))
	}
	// Two calls with one id in one entry, answered in the other order: only position can tell them apart.
	a, b := read("same", "x.go"), call("same", "write_file", map[string]string{"file_path": "x.go", "content": "x"})
	return append(out, ai(a, b), tool(answer(b, "ok"), answer(a, "package x")), ai(text("done")))
}

// unknown: blocks, speakers and fields of a future version, null blocks, and entries without blocks.
func unknown() []content.Content {
	// What the decoder makes of a block that it does not know.
	opaque := func(raw string) content.Block { return content.Opaque{JSON: json.RawMessage(raw)} }
	return []content.Content{
		human("look"), ai(opaque(`{"type":"hologram","depth":1.50,"parts":[1,2]}`), text("there")),
		{Speaker: "narrator", Blocks: []content.Block{text("meanwhile")}}, ai(opaque(`null`)), {Speaker: content.AI},
		{Speaker: content.Human},
		tool(opaque(`{"type":"tool_hologram","callId":"z"}`)), {Speaker: content.Human, Blocks: []content.Block{
			content.Text{Text: "with fields",
				Extra: content.FieldsOf(content.Field{Name: "cache", Value: json.RawMessage(`{"ttl": 5}`)})},
		}, Extra: content.FieldsOf(content.Field{Name: "note", Value: json.RawMessage(`[1,  2]`)}),
			Metadata: json.RawMessage(`{"timestamp":"2026-02-03T04:05:06Z"}`)},
		ai(text("ok")),
	}
}

// unicodeOddities: text that breaks code which cuts strings, compares them case-insensitively or prints them.
func unicodeOddities() []content.Content {
	// Empty, blank with a no-break space, separators that are no line breaks to most code, a change of direction, a
	// sequence that is one glyph, control characters, mixed line ends, the last code point, text that looks escaped,
	// letters whose case changes their length.
	odd := []string{
		"", " \n\t\u00a0", "a\u2028b\u2029c", "\u202eabc\ufeff", "e\u0301\u200d\U0001f469\u200d\U0001f4bb",
		"\x00\x1b[31m\x7f",
		"line\r\nline\rline\n", "\U0010ffff\u0800\u07ff", "\\u0041 \\\" </script> <&>", "\u0130\u0131\ufb01\u1e9e",
	}
	var out []content.Content
	for i, s := range odd {
		c := read(fmt.Sprint("\u00e9", i), "dir/"+s+"\U0001f600.go")
		// Every other tool has a name that looks like a known one and is not.
		c.Name = "read_file" + strings.Repeat("\u0301", i%2)
		out = append(out, human("see "+s), ai(text(s), c), tool(answer(c, s)))
	}
	return out
}

// jsonOddities: parameters and results that are valid JSON but rarely tested, such as duplicate keys, a lone
// surrogate, 100 levels of nesting, or a key of 100 kB. They must survive unchanged, byte for byte.
func jsonOddities() []content.Content {
	var out []content.Content
	for i, raw := range []string{
		`null`, `true`, `-0`, `1E+2`, `12345678901234567890123`, `"\ud800"`, `[]`, `{}`, `{"a":1,"a":2}`,
		`{"file_path":null}`, `{"file_path":7}`,
		`{"file_path":["a"]}`, `{"paths":["a","*.go",7]}`, ` {"file_path" : "a.go"} `, strings.Repeat("[", 100) +
			strings.Repeat("]", 100),
		`{"` + strings.Repeat("k", 100_000) + `":1}`,
	} {
		c := content.ToolCall{ID: fmt.Sprint("j", i), Name: "read_file", Parameters: json.RawMessage(raw)}
		r := content.ToolResponse{CallID: c.ID, ToolName: c.Name, Result: json.RawMessage(raw)}
		out = append(out, human(fmt.Sprint("try ", i)), ai(c), tool(r))
	}
	// And a call and a response with no JSON at all.
	return append(out, ai(content.ToolCall{ID: "none", Name: "read_file"}), tool(content.ToolResponse{CallID: "none"}))
}

// inclusions: files that a person included with @, repeated, unclosed, and with different spellings of one path.
// Strategies that remove duplicate inclusions must not cut anything else.
func inclusions() []content.Content {
	// The form in which some agents include a file; human entries hold it as plain text.
	file := func(path, body string) string {
		return "--- " + path + " ---\n" + body + "\n--- End of content ---\n"
	}
	return []content.Content{
		human("first\n" + file("src/a.go", "package a")), ai(text("seen")),
		human(file("src/a.go", "package a // again") +
			file("src/b.go", "package b")),
		human("--- src/a.go ---\nnever closed"), human("--- End of content ---"), human(file("./src/../src/a.go", "x") +
			file("src/a.go", "y")), ai(text("ok")),
	}
}

// media: pictures inline and by URL, thinking with and without a signature, code blocks. Blocks other than text and
// calls must pass through unchanged.
func media() []content.Content {
	return []content.Content{
		{Speaker: content.Human, Blocks: []content.Block{text("what is this?"),
			content.Media{MimeType: "image/png", Data: "aGVsbG8=", Encoding: "base64"}}},
		ai(content.Thinking{Thought: "a picture", Signature: "c2ln"}, text("a picture")),
		{Speaker: content.Human, Blocks: []content.Block{content.Media{MimeType: "image/jpeg",
			Data: "https://example.com/i.jpg", Encoding: "url", Caption: "a cat"}}},
		ai(content.Thinking{Thought: "hm"}), ai(content.Code{Code: "x := 1", Language: "go"}),
	}
}

// failures: what a strategy must not tell otherwise: signed thinking next to a call, and a call that failed.
func failures() []content.Content {
	c := call("f1", "run_shell_command", map[string]string{"command": "go test ./..."})
	failed := answer(c, "--- FAIL: TestLexer\nFAIL")
	failed.Error = "exit status 1"
	return []content.Content{
		human("make it pass"), ai(content.Thinking{Thought: "first the tests", Signature: "c2ln"}, text("I run them."), c),
		tool(failed), ai(text("They fail.")), human("go on"),
	}
}

// longRuns: a megabyte of one letter and other text without word boundaries, which is quadratic for naive tokenizers.
func longRuns() []content.Content {
	c := read("run", "a.go")
	return []content.Content{
		human("go"), ai(c), tool(answer(c, strings.Repeat("z", 1<<20))), human(strings.Repeat("word ",
			20_000)), ai(text(strings.Repeat("\n", 100_000))),
		human(strings.Repeat("\U0001f600", 50_000)), ai(text("done")),
	}
}

// manyCalls: one entry with a thousand parallel calls, answered in one entry. Pairing calls and responses must not be
// quadratic.
func manyCalls() []content.Content {
	var asked, answers []content.Block
	for i := range 1000 {
		c := read(fmt.Sprint("m", i), fmt.Sprintf("dir/file%d.go", i%10))
		asked, answers = append(asked, c), append(answers, answer(c, "package a"))
	}
	return []content.Content{human("all of them"), ai(asked...), tool(answers...), ai(text("done")), human("thanks")}
}

// withoutBlocks is a session with entries that hold nothing, of everyone and everywhere: at both ends, next to each other,
// between a call and its response.
func withoutBlocks() []content.Content {
	empty := []content.Content{{Speaker: content.Tool}, {Speaker: content.AI}, {Speaker: content.Human}}
	out := slices.Clone(empty)
	for i, c := range session(90, 4) {
		if out = append(out, c); i%4 == 0 {
			out = append(out, empty[i/4%3])
		}
	}
	return append(out, empty...)
}

// pinned is a session in which every fourth entry is pinned, whoever it is from, and in addition what a strategy likes
// to take first: a thought, a read that a later write makes stale, the output of a command, and plain words of the
// model.
func pinned() []content.Content {
	stale, written := read("p1", "/w/src/pinned.go"),
		call("p2", "write_file", map[string]string{"file_path": "/w/src/pinned.go", "content": "package a"})
	test := call("p3", "run_shell_command", map[string]string{"command": "go test ./..."})
	out := []content.Content{
		human("Never push to main."), ai(content.Thinking{Thought: "The rule is about branches."}, text("I will not.")),
		ai(text("I read the file."), stale), tool(answer(stale, strings.Repeat("func f() {}\n", 50))),
		ai(test), tool(answer(test, strings.Repeat("ok\n", 300))), ai(text("The tests pass.")),
	}
	for i := range out {
		out[i].Metadata = json.RawMessage(`{"pinned":true}`)
	}
	out = append(out, ai(written), tool(answer(written, "ok")))
	for i, c := range session(120, 3) {
		if i%4 == 3 {
			c.Metadata = json.RawMessage(`{"timestamp":"2026-01-02T03:04:05Z","pinned":true}`)
		}
		out = append(out, c)
	}
	return out
}
