package main

import (
	"slices"
	"strings"
	"unicode"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// The line that stands for exchanges of which nothing is left. It is read again where it is merged with more.
const (
	foldStart, foldEnd = "[Earlier tool calls, results removed: ", "]"
	foldDivides        = "; "
	foldMore           = "…"
	// mostFold and mostSubject bound it, in bytes: about a thousand tokens, and a long path.
	mostFold, mostSubject = 3500, 100
)

// folder makes one line of each run of exchanges that go, so that the model knows what it has done already. Lines of
// earlier passes are merged with it: otherwise they would pile up.
type folder struct {
	tools    *tools.Taxonomy
	subjects []string
}

// isFold reports whether an entry is such a line.
func isFold(entry sdk.Content) bool {
	if entry.Speaker != sdk.AI || len(entry.Blocks) != 1 {
		return false
	}
	said, ok := entry.Blocks[0].(sdk.Text)
	return ok && strings.HasPrefix(said.Text, foldStart) && strings.HasSuffix(said.Text, foldEnd) &&
		len(said.Text) <= 2*mostFold
}

// add takes in an entry that goes. Only its calls are named: the results are what goes.
func (f *folder) add(entry sdk.Content) {
	for _, b := range entry.Blocks {
		if call, ok := b.(sdk.ToolCall); ok {
			use := f.tools.Use(call.Name, call.Parameters)
			f.subjects = append(f.subjects, strings.TrimSpace(subject(call.Name)+" "+subject(use.Subject)))
		}
	}
}

// subject is the beginning of a text on one line, without what divides subjects. The characters that divide subjects
// would split it when the line is read again.
func subject(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == ';' || r == ']' || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s[:edge(s, min(len(s), mostSubject))])
	return strings.Join(strings.Fields(s), " ")
}

// merge takes in the line of an earlier pass.
func (f *folder) merge(entry sdk.Content) {
	said := entry.Blocks[0].(sdk.Text).Text // isFold looked
	f.subjects = append(f.subjects, strings.Split(said[len(foldStart):len(said)-len(foldEnd)], foldDivides)...)
}

// flush appends the line for the run that ends here, if there is one. Each subject stands once, where it came last; if
// there is no room for all, the oldest go.
func (f *folder) flush(entries []sdk.Content) []sdk.Content {
	seen, room := map[string]bool{"": true}, mostFold
	var parts []string
	for _, s := range slices.Backward(f.subjects) {
		if seen[s] {
			continue
		}
		seen[s] = true
		if room -= len(s) + len(foldDivides); room < 0 || s == foldMore {
			parts = append(parts, foldMore)
			break
		}
		parts = append(parts, s)
	}
	f.subjects = nil
	if len(parts) == 0 {
		return entries
	}
	slices.Reverse(parts)
	line := foldStart + strings.Join(parts, foldDivides) + foldEnd
	return append(entries, sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{Text: line}}})
}
