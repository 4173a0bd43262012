package distill

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// The line that stands for calls that went, so the model knows what it has done already. It is read again by the next
// pass, which makes one of both.
const (
	foldStart, foldEnd = "[Earlier tool calls, results removed: ", "]"
	foldDivides        = "; "
	foldMore           = "…"
	// maxFold and maxSubject bound it, in bytes: about 1,500 tokens, and a long path.
	maxFold, maxSubject = 6000, 100
)

// foldMetadata tells such a line from what a model writes like it: no model writes metadata.
var foldMetadata = json.RawMessage(`{"foldedCalls":true}`)

// folded returns what such a line names; nil if an entry is none.
func folded(entry sdk.Content) (subjects []string) {
	if entry.Speaker != sdk.AI || len(entry.Blocks) != 1 || string(rawjson.Field(entry.Metadata, "foldedCalls")) != "true" {
		return nil
	}
	said, _ := entry.Blocks[0].(sdk.Text)
	list, begins := strings.CutPrefix(said.Text, foldStart)
	list, ends := strings.CutSuffix(list, foldEnd)
	if !begins || !ends {
		return nil
	}
	return strings.Split(list, foldDivides)
}

// fold returns the line for what is told of entries. Each subject stands once, where it came last; if there is no room
// for all, the oldest go.
func fold(told [][]string) sdk.Content {
	seen, room := map[string]bool{"": true}, maxFold
	var parts []string
	for _, s := range slices.Backward(slices.Concat(told...)) {
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
	return sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{Text: line}}, Metadata: foldMetadata}
}

// subjects names the calls of an entry and says how they ended unless they succeeded. That is not known of results which
// were pruned before.
func (p *plan) subjects(entry int) (subjects []string) {
	for j, b := range p.in.History[entry].Blocks {
		call, ok := b.(sdk.ToolCall)
		if !ok {
			continue
		}
		use := p.in.Tools.Use(call.Name, call.Parameters)
		s, outcome := strings.TrimSpace(subject(call.Name)+" "+subject(use.Subject)), tools.Outcome("no result")
		if at, ok := p.pairs.Response(turns.At{Entry: entry, Block: j}); ok {
			outcome = p.in.Tools.Judge(call, p.in.History[at.Entry].Blocks[at.Block].(sdk.ToolResponse)).Outcome
		}
		if outcome != tools.OutcomeSuccess {
			s += " — " + string(outcome)
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
