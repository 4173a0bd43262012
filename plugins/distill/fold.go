package distill

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// The line that stands for calls that went, so the model knows what it has done already. It is read again by the next
// pass, which makes one of both.
const (
	foldStart, foldEnd = "[Earlier tool calls, results removed: ", "]"
	foldDivides        = "; "
	foldMore           = "…"
	// How a call ended is told if it failed, had not ended, or is not known: the result may have been pruned before.
	foldOutcome, foldNoResult = " — ", "no result"
	// maxFold and maxSubject bound it, in bytes: about 1,500 tokens, and a long path.
	maxFold, maxSubject = 6000, 100
)

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

// fold returns the line for the calls in the named entries and in lines of earlier passes; nil if there is none. Each
// subject stands once, where it came last; if there is no room for all, the oldest go.
func (p *plan) fold(named []bool) *sdk.Content {
	var subjects []string
	news := 0
	for i, entry := range p.in.History {
		switch {
		case named[i]:
			before := len(subjects)
			subjects = append(subjects, p.subjects(i)...)
			news += len(subjects) - before
		case isFold(entry) && !p.fixed[i]:
			was := entry.Blocks[0].(sdk.Text).Text // isFold looked
			subjects = append(subjects, strings.Split(was[len(foldStart):len(was)-len(foldEnd)], foldDivides)...)
		}
	}
	if news == 0 {
		return nil
	}
	seen, room := map[string]bool{"": true}, maxFold
	var parts []string
	for _, s := range slices.Backward(subjects) {
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
	slices.Reverse(parts)
	line := foldStart + strings.Join(parts, foldDivides) + foldEnd
	return &sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{Text: line}}, Metadata: foldMetadata}
}

// subjects names the calls of an entry and says how they ended unless they succeeded.
func (p *plan) subjects(entry int) (subjects []string) {
	for j, b := range p.in.History[entry].Blocks {
		call, ok := b.(sdk.ToolCall)
		if !ok {
			continue
		}
		use := p.in.Tools.Use(call.Name, call.Parameters)
		s := strings.TrimSpace(subject(call.Name) + " " + subject(use.Subject))
		if at, ok := p.pairs.Response(turns.At{Entry: entry, Block: j}); !ok {
			s += foldOutcome + foldNoResult
		} else {
			response := p.in.History[at.Entry].Blocks[at.Block].(sdk.ToolResponse)
			switch o := p.in.Tools.Judge(call, response).Outcome; o {
			case tools.OutcomeError, tools.OutcomeRunning, tools.OutcomeUnknown:
				s += foldOutcome + string(o)
			}
		}
		subjects = append(subjects, s)
	}
	return subjects
}

// subject is the beginning of a text on one line, without what divides subjects and outcomes: these would be taken for
// others when the line is read again.
func subject(s string) string {
	end := min(len(s), maxSubject)
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end++
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == ';' || r == '[' || r == ']' || !unicode.IsPrint(r):
			return ' '
		case r == '—':
			return '-'
		}
		return r
	}, s[:end])
	return strings.Join(strings.Fields(s), " ")
}
