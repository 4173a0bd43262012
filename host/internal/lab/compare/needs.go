package compare

import (
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Recall by needs asks of each call that the recorded model made: did the pruned request still hold all that the call
// was made from? Identifiers alone ([usedWord]) do not show whether an edit could have been made: it needs the lines.

// neededCall is one call of an answer with the things that it was made from. A call needs all of them.
type neededCall struct {
	// Indexes into what [held] counts; at least one.
	things     []int32
	edit       bool // lines of a file are among the things
	parameters json.RawMessage
}

// findNeeds returns what the calls of each answer depend on, and numbers the lines of files that edits name behind all
// other things. A call depends on the identifiers in its paths and in its command, and an edit on each line of the text
// that it replaces. It must run last, because it extends what entries are searched for.
func (r *recording) findNeeds() [][]neededCall {
	out := make([][]neededCall, len(r.Requests))
	r.lines, r.linesFrom = map[string]int32{}, int32(r.things)
	for n := range r.Requests {
		for i := range r.answer(n) {
			for _, b := range r.entries()[i].Blocks {
				if call, ok := b.(content.ToolCall); ok {
					if c := r.needs(call); len(c.things) > 0 {
						out[n] = append(out[n], c)
					}
				}
			}
		}
	}
	return out
}

func (r *recording) needs(call content.ToolCall) neededCall {
	c := neededCall{parameters: call.Parameters}
	seen := map[int32]bool{}
	// At most maxUsed, as a call that writes a large file would outweigh all others.
	need := func(id int32) {
		if !seen[id] && len(c.things) < maxUsed {
			seen[id] = true
			c.things = append(c.things, id)
		}
	}
	word := func(s string) {
		// An identifier that no answer uses is none of this call: a path may be joined to a directory.
		if id, ok := r.words[s]; ok {
			need(id)
		}
	}
	use := r.taxonomy.Use(call.Name, call.Parameters)
	for _, path := range use.Reads {
		runs(path, word)
	}
	// Only names: what a write puts into the file the model makes up itself.
	for _, w := range use.Writes {
		runs(w.Path, word)
	}
	words(use.Command, word)
	if len(use.Writes) == 0 {
		return c
	}
	// Of an edit that replaces nothing, such as a new file, no lines are asked for.
	replaced(call.Parameters, func(line string) {
		if line = fileLine(line); line == "" {
			return
		}
		c.edit = true
		need(r.number(line))
	})
	return c
}

// number returns the number of a line, which is a new one if nothing asked for the line so far.
func (r *recording) number(line string) int32 {
	id, ok := r.lines[line]
	if !ok {
		id = int32(r.things)
		r.things++
		r.lines[strings.Clone(line)] = id // a copy, so parameters of megabytes can go
	}
	return id
}

// oldTexts are the parameters by which edit tools take the text that they replace. They are those of the agents whose
// recordings the lab reads.
var oldTexts = map[string]bool{
	"old_string": true, "old_str": true, "old_text": true, "oldString": true, "oldText": true, "search": true,
}

// replaced yields the lines of a file that an edit takes away or relies on: those of its old text, and the removed and
// unchanged lines of a patch.
func replaced(parameters json.RawMessage, yield func(line string)) {
	eachParameter(parameters, func(name, text string) {
		if oldTexts[name] {
			eachLine(text, yield)
		} else {
			patched(text, yield)
		}
	})
}

// eachParameter yields the texts among parameters, which may nest ("edits": [{"oldText": …}]).
func eachParameter(parameters json.RawMessage, yield func(name, text string)) {
	var visit func(name string, raw []byte, depth int)
	visit = func(name string, raw []byte, depth int) {
		s := rawjson.New(raw)
		switch s.Kind() {
		case '"':
			text, _ := rawjson.Text(raw)
			yield(name, text)
		case '{':
			if depth > 0 {
				_ = s.Object(func(key []byte) error { // what is no JSON has no lines
					name := string(key)
					value, err := s.Skip()
					visit(name, value, depth-1)
					return err
				})
			}
		case '[':
			if depth > 0 {
				_ = s.Array(func(int) error {
					value, err := s.Skip()
					visit(name, value, depth-1)
					return err
				})
			}
		}
	}
	const nested = 4 // deeper than any tool's parameters
	visit("", parameters, nested)
}

// patched yields the lines of a patch that must be in the file: of "*** Begin Patch", of a unified diff, and of blocks
// that begin with "<<<<<<< SEARCH". Context lines count too: a patch does not apply without them.
func patched(text string, yield func(line string)) {
	hunk, search := false, false
	eachLine(text, func(line string) {
		switch {
		case opensSearch(line):
			search = true
		case strings.HasPrefix(line, "======="):
			search = false
		case search:
			yield(line)
		case strings.HasPrefix(line, "*** Update File"), strings.HasPrefix(line, "@@"):
			hunk = true
		case strings.HasPrefix(line, "***"), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "diff "):
			hunk = false
		// An added line begins with a plus, and is nobody's dependency.
		case hunk && line != "" && (line[0] == '-' || line[0] == ' '):
			yield(line[1:])
		}
	})
}

// opensSearch knows two styles of one marker, of which models write either.
func opensSearch(line string) bool {
	return strings.HasSuffix(line, " SEARCH") && (strings.HasPrefix(line, "<<<<") || strings.HasPrefix(line, "----"))
}

func eachLine(text string, yield func(line string)) {
	for line := range strings.Lines(text) {
		yield(strings.TrimRight(line, "\r\n"))
	}
}

// minLine is how many bytes a line needs to be looked for, without the spaces around it. Shorter ones ("}", "else {")
// stand everywhere.
const minLine = 8

// fileLine returns the form in which lines of a file are compared: without the number that a tool put in front ("12→",
// "12: ", "12\t") and without the spaces at both ends. It returns "" for lines that say too little.
func fileLine(line string) string {
	// The number goes only if a mark follows it: "42 is the answer" stays.
	if rest := strings.TrimLeft(strings.TrimLeft(line, " \t"), "0123456789"); len(rest) < len(line) {
		for _, mark := range [...]string{"→", "\t", ":", "|", "-"} {
			if after, ok := strings.CutPrefix(rest, mark); ok {
				line = after
				break
			}
		}
	}
	if line = strings.TrimSpace(line); len(line) < minLine || letters(line) == 0 {
		return ""
	}
	return line
}

// blockLines yields the lines of files in a block, in the form of [fileLine]. Text in JSON counts too: a tool may
// answer with an object that holds the file, and a call that writes a file has it in its parameters.
func blockLines(b content.Block, yield func(line string)) {
	line := func(s string) {
		if s = fileLine(s); s != "" {
			yield(s)
		}
	}
	scan := func(text string) { eachLine(text[:min(len(text), maxScan)], line) }
	switch b := b.(type) {
	case content.Text:
		scan(b.Text)
	case content.Code:
		scan(b.Code)
	case content.Thinking:
		scan(b.Thought)
	case content.ToolCall:
		jsonStrings(b.Parameters, scan)
		written(b.Parameters, yield)
	case content.ToolResponse:
		text := b.ResultText()
		if t := strings.TrimSpace(text); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			jsonStrings(json.RawMessage(t), scan)
		}
		scan(text)
	}
}

// jsonStrings yields the values of all strings in JSON text, names of fields among them. Like [jsonWords] it goes
// through the text without nesting. A string that is cut by the bound is read to its end.
func jsonStrings(raw json.RawMessage, yield func(string)) {
	for i := 0; i < min(len(raw), maxScan); i++ {
		if raw[i] != '"' {
			continue
		}
		end := stringEnd(raw, i)
		if text, ok := rawjson.Text(raw[i:end]); ok {
			yield(text)
		}
		i = end - 1
	}
}

// stringEnd returns the position behind the string of JSON that begins at start. It is at most len(raw), for a string
// that does not end.
func stringEnd(raw []byte, start int) int {
	end := start + 1
	for end < len(raw) && raw[end] != '"' {
		if raw[end] == '\\' {
			end++
		}
		end++
	}
	return min(end+1, len(raw))
}

// needed counts the calls of an answer all of whose dependencies the request still held, and returns the others. A call
// with one thing missing is not kept: the model could not have made it as it did.
func (o *observer) needed(calls []neededCall) (lacking []neededCall) {
	n := &o.tally.needs
	for _, c := range calls {
		kept := 1
		for _, thing := range c.things {
			if !o.held.holds(thing) {
				kept = 0
				lacking = append(lacking, c)
				break
			}
		}
		n.Calls++
		n.Kept += kept
		if c.edit {
			n.Edits++
			n.KeptEdits += kept
		}
	}
	return lacking
}
