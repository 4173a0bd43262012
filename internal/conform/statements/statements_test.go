package statements_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/conform/statements"
	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/sdk/content"
)

// lines are numbered lines of a file.
func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d of it\n", i)
	}
	return b.String()
}

// numbered are lines as a read tool prints them, with the first number that it gives them.
func numbered(from, to, first int) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(lines(from, to), "\n"), "\n") {
		fmt.Fprintf(&b, "%6d→%s\n", first+i, line)
	}
	return b.String()
}

// exchange is a call and its answer, with the ids NAMEc and NAME.
func exchange(name, tool, params, result string) []statements.Entry {
	return []statements.Entry{
		{ID: name + "c", Content: gen.Call(name, tool, params)}, {ID: name, Content: gen.Answer(name, tool, result)},
	}
}

// answered is an answer with a result in JSON.
func answered(name, tool, result, failure string) statements.Entry {
	return statements.Entry{ID: name, Content: content.Content{Speaker: content.Tool, Blocks: []content.Block{
		content.ToolResponse{CallID: name, ToolName: tool, Result: json.RawMessage(result), Error: failure}}}}
}

func said(name string, by content.Speaker, text string) statements.Entry {
	return statements.Entry{ID: name, Content: gen.Said(by, text)}
}

// with is a conversation in which an entry has another result or text.
func with(all []statements.Entry, name, text string) []statements.Entry {
	out := make([]statements.Entry, len(all))
	for i, e := range all {
		if e.ID == name {
			if b, ok := e.Content.Blocks[0].(content.ToolResponse); ok {
				e.Content.Blocks = []content.Block{b.WithResultText(text)}
			} else {
				e.Content.Blocks = []content.Block{content.Text{Text: text}}
			}
		}
		out[i] = e
	}
	return out
}

// without is a conversation without some entries.
func without(all []statements.Entry, names ...string) (out []statements.Entry) {
	for _, e := range all {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+e.ID+" ") {
			out = append(out, e)
		}
	}
	return out
}

// TestStatements reads views with one statement, or none, and with what should not be there. A statement that is true
// must be read as such, and one that is forged must not.
func TestStatements(t *testing.T) {
	const file, run = `{"file_path":"/w/a.go"}`, `{"command":"go test ./..."}`
	read := exchange("r", "read_file", file, lines(1, 20))
	again := append(read[:2:2], exchange("s", "read_file", file, "new\n"+lines(3, 12)+"end\n")...)
	shifted := append(exchange("r", "Read", file, numbered(1, 20, 1)), exchange("s", "Read", file, numbered(5, 15, 7))...)
	long := exchange("r", "read_file", file, "first\n"+strings.Repeat("x", 30)+strings.Repeat("y", 30)+"\nlast\n")
	test := exchange("r", "Bash", run, "FAIL\nExit code 1\n")
	files := []statements.Entry{
		said("h", content.Human, "Look:\n--- a.go ---\nold\n--- End of content ---\nthanks"), said("x", content.AI, "yes"),
		said("g", content.Human, "Again:\n--- ./a.go ---\nnew\n--- End of content ---"),
	}
	list := []statements.Entry{
		said("h", content.Human, "--- Content from referenced files ---\nContent from @a.go:\nold\nContent from @b.go:\n"+
			"b\n--- End of content ---"), said("g", content.Human, "--- a.go ---\nnew\n--- End of content ---"),
	}
	// As gemini-cli sends it: the texts of one message.
	message := func(texts ...string) (out []statements.Entry) {
		e := statements.Entry{ID: "h", Content: content.Content{Speaker: content.Human}}
		for _, text := range texts {
			e.Content.Blocks = append(e.Content.Blocks, content.Text{Text: text})
		}
		return append(out, e, files[2])
	}
	parts := message("Look.", "\n--- Content from referenced files ---", "\nContent from @a.go:\n", "old\n",
		"\nContent from @b.go:\n", "b", "\n--- End of content ---")
	parted := func(marker string) []statements.Entry {
		return message("Look.", "\n--- Content from referenced files ---", "\n"+marker, "Content from @b.go:\n", "b",
			"\n--- End of content ---")
	}
	task := said("h", content.Human, "go on")
	edits := append([]statements.Entry{task}, append(append(exchange("r", "Edit", file, "ok"),
		answeredCall("s", "Edit", file, `"no"`, "it failed")...), said("g", content.Human, "well?"))...)
	// Two calls of one id: b.go after a.go.
	twice := func(b ...statements.Entry) []statements.Entry {
		all := exchange("r", "read_file", file, lines(1, 20))
		for i, e := range b {
			all[i].Content.Blocks = append(all[i].Content.Blocks, e.Content.Blocks...)
		}
		return append(append([]statements.Entry{task}, all...), said("g", content.Human, "well?"))
	}
	other := exchange("r", "read_file", `{"file_path":"/w/b.go"}`, lines(1, 3))
	twins := twice(other...)
	last := func(line string) []statements.Entry {
		now := slices.Clone(twins)
		now[1].Content, now[2].Content = other[0].Content, gen.Answer("r", "read_file", line)
		return now
	}
	pending := []statements.Entry{task, {ID: "rc", Content: gen.Call("r", "Bash", run)}, said("g", content.Human, "well?")}
	made := answered("r", "Bash", "", "no result came before the conversation went on")
	made.ID = ""
	fold := func(items string) []statements.Entry {
		return []statements.Entry{task, said("f", content.AI, "[Earlier tool calls, results removed: "+items+"]"), edits[5]}
	}
	gap := "[… 3 lines omitted]\n"
	x, y := strings.Repeat("x", 20), strings.Repeat("y", 20)
	same := func(lines string) string { return "new\n[… 10 lines omitted: lines " + lines + " above]\nend\n" }
	moved := func(number string) string {
		return "[… 11 lines omitted: lines 5-15 of the result of Read /w/a.go above" + number + "]"
	}
	limit := " to stay under the context limit: "
	included := func(rest string) string { return "Look:\n[Earlier inclusion of " + rest + "]\nthanks" }
	for name, c := range map[string]struct {
		was  []statements.Entry
		now  []statements.Entry // if nil: was, but for the text of one entry
		in   string
		text string
		kind statements.Kind // of the one statement, "" if there is none
		why  string          // in what is wrong with it; "" if it is true
	}{
		"nothing changed":        {was: read, now: read},
		"a mark of the original": {was: with(read, "r", "a\n"+gap+"b\n"), in: "r", text: "a\n" + gap + "b\n"},
		"a mark behind one of them": {with(read, "r", gap+"a\nb\n"), nil, "r", gap + "[… 2 lines omitted]",
			statements.Omitted, ""},

		"omitted":              {read, nil, "r", lines(1, 5) + gap + lines(9, 20), statements.Omitted, ""},
		"omitted at the start": {read, nil, "r", gap + lines(4, 20), statements.Omitted, ""},
		"omitted at the end":   {read, nil, "r", lines(1, 17) + gap, statements.Omitted, ""},
		"too many":             {read, nil, "r", lines(1, 5) + gap + lines(8, 20), statements.Omitted, "2 lines"},
		"too few at the end":   {read, nil, "r", lines(1, 16) + gap, statements.Omitted, "4 lines"},
		"the end of a line": {long, nil, "r", "first\n" + x + "\n[… 40 characters omitted, to the end of the line]\n" +
			"[… 1 line omitted]", statements.Omitted, ""},
		"the start of a line": {long, nil, "r", "first\n[… 40 characters omitted, from the start of the line]\n" + y +
			"\nlast\n", statements.Omitted, ""},
		"the middle of a line": {long, nil, "r", "first\n" + x + "\n[… 20 characters omitted within the line]\n" + y +
			"\nlast\n", statements.Omitted, ""},
		"too few characters": {long, nil, "r", "first\n" + x + "\n[… 19 characters omitted within the line]\n" + y +
			"\nlast\n", statements.Omitted, "20 characters"},
		"not its end": {long, nil, "r", "first\n" + x + "\n[… 20 characters omitted, to the end of the line]\n" + y +
			"\nlast\n", statements.Omitted, "it ends it: false"},
		"a piece as a line": {long, nil, "r", "first\n" + x + "\n[… 1 line omitted]\n" + y + "\nlast\n",
			statements.Omitted, "one of them in part"},
		"no mark":      {read, nil, "r", lines(1, 5) + lines(9, 20), statements.Silent, "3 lines"},
		"another text": {read, nil, "r", "line 1 of it\nbut not so\n" + lines(2, 20), statements.Unknown, "no such"},
		"another mark": {read, nil, "r", "[all is well]\n" + lines(1, 20), statements.Unknown, "no such"},

		"repeated": {again, nil, "s", same("3-12 of the result of read_file /w/a.go"), statements.Repeated, ""},
		"in other lines": {again, nil, "s", same("4-13 of the result of read_file /w/a.go"), statements.Repeated,
			"line 4 is"},
		"in another result": {again, nil, "s", same("3-12 of the result of read_file /w/b.go"), statements.Repeated,
			"no such"},
		"in one before": {again, nil, "s", same("3-12 of the 2nd last result of read_file /w/a.go"), statements.Repeated,
			"no such result"},
		"in one that is gone": {was: again, now: without(with(again, "s", same("3-12 of the result of read_file /w/a.go")),
			"r", "rc"), kind: statements.Repeated, why: "no such result"},
		"in too few lines": {again, nil, "s", same("3-11 of the result of read_file /w/a.go"), statements.Repeated,
			"are not 10"},
		"other numbers":   {shifted, nil, "s", moved(", numbered from 7"), statements.Repeated, ""},
		"wrong numbers":   {shifted, nil, "s", moved(", numbered from 8"), statements.Repeated, "line 1 here"},
		"without numbers": {shifted, nil, "s", moved(""), statements.Repeated, "line 5 is"},

		"one line":   {read, nil, "r", "[read_file: /w/a.go — success, 20 lines]", statements.OneLine, ""},
		"its lines":  {read, nil, "r", "[read_file: /w/a.go — success, 19 lines]", statements.OneLine, "20 lines"},
		"its tool":   {read, nil, "r", "[write_file: /w/a.go — success, 20 lines]", statements.OneLine, "read_file"},
		"its file":   {read, nil, "r", "[read_file: /w/b.go — success, 20 lines]", statements.OneLine, "/w/a.go"},
		"no error":   {read, nil, "r", "[read_file: /w/a.go — error, 20 lines]", statements.OneLine, "nothing"},
		"an error":   {test, nil, "r", "[Bash: go test ./... — error, 2 lines]", statements.OneLine, ""},
		"no success": {test, nil, "r", "[Bash: go test ./... — success, 2 lines]", statements.OneLine, "Exit code 1"},

		"of the other of its id": {was: twins, now: last("[read_file: /w/b.go — success, 3 lines]"), kind: statements.OneLine},
		"of none of its id": {was: twins, now: last("[read_file: /w/b.go — success, 20 lines]"), kind: statements.OneLine,
			why: "/w/a.go"},

		"pointer":           {read, nil, "r", "[Result pruned — re-run tool to retrieve]", statements.Pointer, ""},
		"swallowed pointer": {read, nil, "r", "[… 1 line omitted]", statements.Omitted, "20 lines"},
		"removed":           {read, nil, "r", "[result removed" + limit + "7 tokens, entry r]", statements.Removed, ""},
		"removed elsewhere": {read, nil, "r", "[result removed" + limit + "7 tokens, entry s]", statements.Removed, "entry"},
		"its tokens":        {read, nil, "r", "[result removed" + limit + "8 tokens, entry r]", statements.Removed, "7"},
		"cut in the middle": {read, nil, "r", lines(1, 2) + "[39 bytes removed here" + limit + "entry r]\n" + lines(6, 20),
			statements.Middle, ""},
		"its bytes": {read, nil, "r", lines(1, 2) + "[38 bytes removed here" + limit + "entry r]\n" + lines(6, 20),
			statements.Middle, "39 bytes"},
		"cut at the end": {files, nil, "h", "Look:\n--… [the rest was removed" + limit + "entry h]", statements.Rest, ""},
		"other words": {files, nil, "h", "Delete:… [the rest was removed" + limit + "entry h]", statements.Rest,
			"does not begin"},

		"inclusion": {files, nil, "h", included("a.go removed — included again later"), statements.Inclusion, ""},
		"inclusion in a list": {list, nil, "h", "--- Content from referenced files ---\n" +
			"[Earlier inclusion of a.go removed — included again later]\nContent from @b.go:\nb\n--- End of content ---",
			statements.Inclusion, ""},
		"inclusion that is gone": {was: files, now: without(with(files, "h", included("a.go removed")), "g"),
			kind: statements.Inclusion},
		"inclusion that does not come again": {was: files, kind: statements.Inclusion, why: "not included again",
			now: without(with(files, "h", included("a.go removed — included again later")), "g")},
		"inclusion of another file": {files, nil, "h", included("b.go removed — included again later"),
			statements.Inclusion, "no inclusion"},
		"more than the inclusion": {files, nil, "h", "Look:\n[Earlier inclusion of a.go removed — included again later]",
			statements.Inclusion, "no inclusion"},
		"inclusion over blocks": {was: parts, now: parted("[Earlier inclusion of a.go removed — included again later]\n"),
			kind: statements.Inclusion},
		"other words next to it": {was: parts, now: parted("[Earlier inclusion of a.go removed — included again later]\nno\n"),
			kind: statements.Unknown, why: "no such line"},
		"words of a person": {files, nil, "g", "Again:\nno\n--- ./a.go ---\nnew\n--- End of content ---",
			statements.Unknown, "no such line"},

		"fold":         {was: edits, now: fold("Edit /w/a.go, /w/a.go — error"), kind: statements.Fold},
		"fewer calls":  {was: edits, now: fold("Edit /w/a.go ×2"), kind: statements.Fold, why: "1 such calls"},
		"others":       {was: edits, now: fold("Edit /w/a.go; and 1 more"), kind: statements.Fold},
		"a failure":    {was: without(edits, "r", "rc"), now: fold("Edit /w/a.go"), kind: statements.Fold, why: "it failed"},
		"another file": {was: edits, now: fold("Edit /w/b.go"), kind: statements.Fold, why: "no such call"},
		"no more": {was: edits, now: fold("Edit /w/a.go, /w/a.go — error; and 1 more"), kind: statements.Fold,
			why: "no 1 more"},
		"named twice": {was: edits, now: fold("Edit /w/a.go; Edit /w/a.go"), kind: statements.Fold, why: "twice"},
		"one still there": {was: edits, now: slices.Insert(fold("Edit /w/a.go"), 1, edits[1:3]...), kind: statements.Fold,
			why: "it failed"},
		"one of its id still there": {was: twins, now: slices.Insert(twice(), 3, fold("read_file /w/b.go")[1]),
			kind: statements.Fold},
		"words of the model": {was: edits, now: []statements.Entry{task, said("f", content.AI, "I did it."), edits[5]},
			kind: statements.Unknown, why: "not marked as made"},

		"interrupted": {was: pending, now: slices.Insert(slices.Clone(pending), 2, made), kind: statements.Unanswered},
		"not interrupted": {was: slices.Insert(slices.Clone(pending), 2, answered("r", "Bash", `"ok"`, "")),
			now: slices.Insert(slices.Clone(pending), 2, made), kind: statements.Unanswered, why: "has a result"},
		"recalled": {read, nil, "r", lines(1, 17) + "[… 3 lines omitted] [thresh_recall: r]", statements.Recall, ""},
		"by another id": {read, nil, "r", lines(1, 17) + "[… 3 lines omitted] [thresh_recall: x]", statements.Recall,
			"the call is r"},
		"another outcome": {was: test, now: []statements.Entry{test[0], answered("r", "Bash", `"FAIL\nExit code 1\n"`, "no")},
			kind: statements.Changed, why: "the error was"},
		"another command": {was: test, now: []statements.Entry{{ID: "rc", Content: gen.Call("r", "Bash", `{"command":"rm"}`)},
			test[1]}, kind: statements.Unknown, why: "no such line"},
	} {
		if c.now == nil {
			c.now = with(c.was, c.in, c.text)
		}
		t.Run(name, func(t *testing.T) {
			check := statements.New(statements.Options{Root: "/w", Tokens: func(content.Block) int { return 7 }})
			check.Add(c.was...)
			r := check.Check(c.now)
			if c.kind == "" {
				if len(r.All) > 0 {
					t.Errorf("%v", r.All)
				}
				return
			}
			for _, f := range r.All {
				if f.Kind == c.kind && (f.Why == "") == (c.why == "") && strings.Contains(f.Why, c.why) {
					return
				}
			}
			t.Errorf("want a finding of %q: %q; got %v", c.kind, c.why, r.All)
		})
	}
}

func answeredCall(name, tool, params, result, failure string) []statements.Entry {
	call := statements.Entry{ID: name + "c", Content: gen.Call(name, tool, params)}
	return []statements.Entry{call, answered(name, tool, result, failure)}
}
