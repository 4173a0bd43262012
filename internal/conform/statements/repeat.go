package statements

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// reference is where a mark says that lines stand.
type reference struct {
	label    string
	last     int // which of the results with that label, from the last one
	from, to int // lines of it, from 1
	numbered int // the number that the first of them has in the original; -1: the same as there
}

// result is a result of the view. Its lines are found when a mark names it.
type result struct {
	at    turns.At
	lines []string
}

// repeats says why the lines that a mark stands for do not stand where it says; "" if they do.
func (r *reading) repeats(m mark, p place, text string) string {
	here := turns.At{Entry: r.index, Block: p.block}
	named := r.named(m.ref, here)
	if named == nil {
		return "no such result stands before it"
	}
	if named.lines == nil {
		response := r.view[named.at.Entry].Content.Blocks[named.at.Block].(content.ToolResponse)
		for _, s := range content.Literals(response.Result) {
			named.lines = append(named.lines, linesOf(s.Text)...)
		}
	}
	from, to := m.ref.from, m.ref.to
	if from < 1 || to > len(named.lines) || to-from+1 != m.lines {
		return fmt.Sprintf("lines %d-%d are not %d of the %d lines of that result", from, to, m.lines, len(named.lines))
	}
	there, gone := named.lines[from-1:to], linesOf(text)
	if m.ref.numbered < 0 {
		if i := differ(there, gone); i >= 0 {
			return fmt.Sprintf("line %d is %.80q there, and was %.80q here", from+i, there[i], gone[i])
		}
		return ""
	}
	if file := r.file(here); file == "" || file != r.file(named.at) {
		return "the two results are not reads of one file"
	}
	return renumbered(there, gone, m.ref.numbered)
}

// named returns the result of the view that a reference before a place means; nil if there is none.
func (r *reading) named(ref reference, before turns.At) *result {
	if r.results == nil {
		r.results = map[string][]result{}
	}
	all, known := r.results[ref.label]
	if !known {
		for i, e := range r.view {
			for j, b := range e.Content.Blocks {
				response, ok := b.(content.ToolResponse)
				if at := (turns.At{Entry: i, Block: j}); ok && r.labelled(at, response, ref.label) {
					all = append(all, result{at: at})
				}
			}
		}
		r.results[ref.label] = all
	}
	n := slices.IndexFunc(all, func(x result) bool {
		return x.at.Entry > before.Entry || x.at.Entry == before.Entry && x.at.Block >= before.Block
	})
	if n < 0 {
		n = len(all)
	}
	if ref.last < 1 || ref.last > n {
		return nil
	}
	return &all[n-ref.last]
}

// labelled reports whether a label is that of a response of the view: its tool, and what the call was about. A result
// without lines has none that a mark could mean.
func (r *reading) labelled(at turns.At, response content.ToolResponse, label string) bool {
	call, ok := r.pairs.Call(at)
	if !ok {
		return false
	}
	asked := r.view[call.Entry].Content.Blocks[call.Block].(content.ToolCall)
	// Few tools have the name; the rest need no look at their parameters.
	word, _, _ := strings.Cut(label, " ")
	if !strings.HasPrefix(labelText(asked.Name), strings.TrimSuffix(word, "…")) {
		return false
	}
	return slices.ContainsFunc(about(asked), func(s string) bool { return labelled(asked.Name, s, label) }) &&
		slices.ContainsFunc(content.Literals(response.Result), func(s content.Literal) bool { return s.Text != "" })
}

func labelled(tool, subject, label string) bool {
	const most = 80
	full := labelText(tool + " " + subject)
	if utf8.RuneCountInString(full) > most {
		full = string([]rune(full)[:most-1]) + "…"
	}
	// A blank before the ellipsis may have been cut off.
	return full == label || strings.TrimSuffix(full, " …")+"…" == label
}

// labelText is a text as labels have it.
func labelText(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("[", "(", "]", ")").Replace(plain(s))), " ")
}

// linesOf are the lines of a text, without their ends.
func linesOf(text string) (out []string) {
	for line := range strings.Lines(text) {
		out = append(out, strings.TrimSuffix(line, "\n"))
	}
	return out
}

// differ returns the first place at which two lists of one length differ; -1 if there is none.
func differ(a, b []string) int {
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// lineNumber is what read tools put in front of a line.
var lineNumber = lazily(`^[ \t]*([0-9]+)(→|\t|: ?|\||)`)

// renumbered says why lines are not the same with other numbers, which begin with first here; "" if they are.
func renumbered(there, gone []string, first int) string {
	was := 0
	for i := range there {
		a, b := lineNumber().FindStringSubmatch(there[i]), lineNumber().FindStringSubmatch(gone[i])
		switch {
		case a == nil || b == nil:
			return fmt.Sprintf("the line %.80q has no number", there[i])
		case i > 0 && number(a[1]) != was+1:
			return fmt.Sprintf("the numbers there do not follow one another: %.80q", there[i])
		case number(b[1]) != first+i:
			return fmt.Sprintf("line %d here was %.80q", i+1, gone[i])
		case a[2] != b[2] || there[i][len(a[0]):] != gone[i][len(b[0]):]:
			return fmt.Sprintf("%.80q there, and %.80q here", there[i], gone[i])
		}
		was = number(a[1])
	}
	return ""
}

// file returns the file that the call names which a response of the view answers; "" if it names none.
func (r *reading) file(response turns.At) string {
	call, ok := r.pairs.Call(response)
	if !ok {
		return ""
	}
	file := pathOf(r.view[call.Entry].Content.Blocks[call.Block].(content.ToolCall))
	if file == "" {
		return ""
	}
	return r.resolved(file)
}
