package statements

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// What stands for a whole result.
var (
	superseded  = "[result removed]"
	pointer     = "[Result pruned — re-run tool to retrieve]"
	removedLine = lazily(
		`^\[result removed to stay under the context limit: ([0-9]+) tokens, entry (\S+)\]$`)
	oneLine    = lazily(`^\[(.*) — (success|error|still running|outcome unknown), ([0-9]+) (lines?)\]$`)
	recallMark = lazily(` \[thresh_recall: (\S+)\]$`)
)

// whole reads a sentence that stands for a whole result; false if the result is none. at is where the result was.
func (r *reading) whole(at turns.At, was, now content.ToolResponse) bool {
	text := now.ResultText()
	if found := recallMark().FindStringSubmatchIndex(text); found != nil {
		why := ""
		if id := text[found[2]:found[3]]; id != was.CallID && id != r.view[r.index].ID {
			why = "the call is " + was.CallID
		}
		r.said(Recall, text[found[0]:], why)
		text = text[:found[0]]
	}
	switch text {
	case pointer:
		r.said(Pointer, text, "")
		return true
	case superseded:
		r.said(Removed, text, "")
		return true
	}
	if found := removedLine().FindStringSubmatch(text); found != nil {
		r.said(Removed, text, r.removed(found[1], found[2], was))
		return true
	}
	if found := oneLine().FindStringSubmatch(text); found != nil {
		r.said(OneLine, text, r.oneLine(found, at, was))
		return true
	}
	return false
}

// removed judges the line of a result that was removed. It gives the tokens of the result, or of what was left of it.
func (r *reading) removed(tokens, entry string, was content.ToolResponse) string {
	if r.o.Tokens == nil {
		return r.ownEntry(entry)
	}
	said := r.view[r.index].ID + tokens
	counts := []int{r.o.Tokens(was)}
	for _, b := range r.last[r.view[r.index].ID].Blocks {
		if left, ok := b.(content.ToolResponse); ok && left.CallID == was.CallID {
			counts = append(counts, r.o.Tokens(left))
		}
	}
	if !slices.Contains(counts, number(tokens)) && !r.cut[said] {
		return fmt.Sprintf("the result has %d tokens", counts[0])
	}
	r.cut[said] = true
	return r.ownEntry(entry)
}

// oneLine judges the line that stands for a result: tool and subject, outcome, lines.
func (r *reading) oneLine(found []string, at turns.At, was content.ToolResponse) string {
	name, subject := found[1], ""
	tool := plain(was.ToolName)
	if tool == "" {
		tool = "tool"
	}
	var call content.ToolCall
	ref, paired := r.Checker.pairs.Call(at)
	if paired {
		call = r.original[ref.Entry].Content.Blocks[ref.Block].(content.ToolCall)
	}
	if !same(name, tool) {
		rest, ok := strings.CutPrefix(name, tool+": ")
		if head, cut, is := strings.Cut(name, "…: "); !ok && is && same(head+"…", tool) {
			rest, ok = cut, true
		}
		if !ok {
			return "the tool is " + tool
		}
		if subject = rest; !paired {
			return "there is no call that it could name something of"
		}
		if why := names(call, subject); why != "" {
			return why
		}
	}
	switch failed, why := judge(was); {
	case failed == yes && found[2] == "success", failed == no && found[2] == "error":
		return why
	case found[2] == "still running" && !running(call, was):
		return "nothing in the result says that it runs on"
	case found[2] == "success" && running(call, was):
		return "it runs on"
	}
	lines := 0
	for _, s := range content.Literals(was.Result) {
		lines += touched(s.Text)
	}
	if lines != number(found[3]) || (found[4] == "line") != (lines == 1) {
		return fmt.Sprintf("the result has %d lines", lines)
	}
	return ""
}

// names says why a subject is not what a call is about.
func names(call content.ToolCall, subject string) string {
	subjects := about(call)
	if slices.ContainsFunc(subjects, func(s string) bool { return same(subject, plain(firstLine(s))) }) {
		return ""
	}
	return fmt.Sprintf("the call is about %.200q", subjects)
}

// same reports whether a text in a sentence is another one, or its first 120 characters with an ellipsis.
func same(said, text string) bool {
	const most = 120
	if utf8.RuneCountInString(text) > most {
		text = strings.TrimRight(string([]rune(text)[:most-1]), " ") + "…"
	}
	return said == text
}
