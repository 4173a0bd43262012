package distill

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// The line that stands for exchanges of which nothing is left. It is read again where it is merged with more.
const (
	foldStart, foldEnd = "[Earlier tool calls, results removed: ", "]"
	foldDivides        = "; "
	foldMore           = "…"
	// How a call ended is told if it failed, had not ended, or is not known: the result may have been pruned before.
	foldOutcome, foldNoResult = " — ", "no result"
	// maxFold and maxSubject bound it, in bytes: about a thousand tokens, and a long path.
	maxFold, maxSubject = 3500, 100
)

// folder makes one line of each run of exchanges that go, so the model knows what it has done already. Lines of
// earlier passes are merged with it: otherwise they would pile up.
type folder struct {
	in       sdk.CompressInput
	pairs    *turns.Pairs
	subjects []string
}

// foldMetadata tells such a line from what a model writes like it: no model writes metadata.
var foldMetadata = json.RawMessage(`{"foldedCalls":true}`)

// isFold reports whether an entry is such a line.
func isFold(entry sdk.Content) bool {
	var made struct {
		FoldedCalls bool `json:"foldedCalls"`
	}
	if entry.Speaker != sdk.AI || len(entry.Blocks) != 1 || len(entry.Metadata) == 0 ||
		json.Unmarshal(entry.Metadata, &made) != nil || !made.FoldedCalls {
		return false
	}
	said, ok := entry.Blocks[0].(sdk.Text)
	return ok && strings.HasPrefix(said.Text, foldStart) && strings.HasSuffix(said.Text, foldEnd) &&
		len(said.Text) <= 2*maxFold
}

// add takes in an entry that goes. Only its calls are named, and whether they failed: the results are what goes.
func (f *folder) add(entry int) {
	for j, b := range f.in.History[entry].Blocks {
		call, ok := b.(sdk.ToolCall)
		if !ok {
			continue
		}
		use := f.in.Tools.Use(call.Name, call.Parameters)
		s := strings.TrimSpace(subject(call.Name) + " " + subject(use.Subject))
		if at, ok := f.pairs.Response(turns.At{Entry: entry, Block: j}); !ok {
			s += foldOutcome + foldNoResult
		} else {
			response := f.in.History[at.Entry].Blocks[at.Block].(sdk.ToolResponse)
			switch o := f.in.Tools.Judge(call, response).Outcome; o {
			case tools.OutcomeError, tools.OutcomeRunning, tools.OutcomeUnknown:
				s += foldOutcome + string(o)
			}
		}
		f.subjects = append(f.subjects, s)
	}
}

// subject is the beginning of a text on one line, without what divides subjects and outcomes: these would be taken for
// others when the line is read again.
func subject(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == ';' || r == '[' || r == ']' || !unicode.IsPrint(r):
			return ' '
		case r == '—':
			return '-'
		}
		return r
	}, s[:edge(s, min(len(s), maxSubject))])
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
	seen, room := map[string]bool{"": true}, maxFold
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
	return append(entries, sdk.Content{
		Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{Text: line}}, Metadata: foldMetadata,
	})
}
