package distill

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// The line that stands for calls that went, so the model knows what it has done already. It names them by tool:
// "Read a.go, b.go; Bash go test ./... ×3; and 2 more". It is read again by the next pass, which makes one of both.
const (
	foldStart, foldEnd        = "[Earlier tool calls, results removed: ", "]"
	foldDivides, foldTogether = "; ", ", "
	foldTimes                 = " ×"
	foldMore                  = "and %d more"
	// maxFold and maxSubject bound it, in bytes: about 1,000 tokens, and a long command. maxWord is a long path, which
	// is never cut.
	maxFold, maxSubject, maxWord = 4000, 100, 250
)

// foldMetadata tells such a line from what a model writes like it: no model writes metadata. Lines that an earlier version
// wrote have true there: they name each call with its tool.
var foldMetadata = json.RawMessage(`{"foldedCalls":2}`)

// told is a call by its tool, what it was about and how it ended, and how often it was made; with "" as name, calls that
// are not named.
type told struct {
	name  string
	times int
}

// folded returns what such a line tells; nil if an entry is none.
func folded(entry sdk.Content) (all []told) {
	form := string(rawjson.Field(entry.Metadata, "foldedCalls"))
	if entry.Speaker != sdk.AI || len(entry.Blocks) != 1 || form != "2" && form != "true" {
		return nil
	}
	said, _ := entry.Blocks[0].(sdk.Text)
	list, begins := strings.CutPrefix(said.Text, foldStart)
	list, ends := strings.CutSuffix(list, foldEnd)
	if !begins || !ends {
		return nil
	}
	for _, group := range strings.Split(list, foldDivides) {
		if form == "true" {
			all = append(all, told{strings.TrimSuffix(group, "…"), 1})
			continue
		}
		if n := 0; strings.HasPrefix(group, "and ") {
			if _, err := fmt.Sscanf(group, foldMore, &n); err == nil {
				all = append(all, told{"", n})
				continue
			}
		}
		tool, rest, _ := strings.Cut(group, " ")
		for _, name := range strings.Split(rest, foldTogether) {
			name, times := strings.TrimSpace(tool+" "+name), 1
			if at := strings.LastIndex(name, foldTimes); at >= 0 {
				if n, err := strconv.Atoi(name[at+len(foldTimes):]); err == nil {
					name, times = name[:at], n
				}
			}
			all = append(all, told{name, times})
		}
	}
	return all
}

// fold returns the line for what is told of entries. Each call stands once, with those of its tool, where it came last;
// if there is no room for all, the oldest are only counted.
func fold(entries [][]told) sdk.Content {
	times, more := map[string]int{}, 0
	var names []string // the newest first
	for _, t := range slices.Backward(slices.Concat(entries...)) {
		if t.name == "" {
			more += t.times
			continue
		}
		if times[t.name] == 0 {
			names = append(names, t.name)
		}
		times[t.name] += t.times
	}
	var groups []string // by tool, the one that was used last first
	at := map[string]int{}
	room := maxFold
	for i, name := range names {
		tool, rest, _ := strings.Cut(name, " ")
		if n := times[name]; n > 1 {
			rest = strings.TrimSpace(rest + foldTimes + strconv.Itoa(n))
		}
		if room -= len(rest) + len(foldTogether); room < 0 {
			for _, name := range names[i:] {
				more += times[name]
			}
			break
		}
		g, known := at[tool]
		if !known || rest == "" || groups[g] == tool { // a call that is about nothing stands alone
			room -= len(tool) + len(foldDivides)
			at[tool] = len(groups)
			groups = append(groups, strings.TrimSpace(tool+" "+rest))
			continue
		}
		groups[g] = tool + " " + rest + foldTogether + groups[g][len(tool)+1:]
	}
	slices.Reverse(groups)
	if more > 0 {
		groups = append(groups, fmt.Sprintf(foldMore, more))
	}
	line := foldStart + strings.Join(groups, foldDivides) + foldEnd
	return sdk.Content{Speaker: sdk.AI, Blocks: []sdk.Block{sdk.Text{Text: line}}, Metadata: foldMetadata}
}

// subjects names the calls of an entry and says how they ended unless they succeeded. That is not known of results which
// were pruned before.
func (p *plan) subjects(entry int) (all []told) {
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
		all = append(all, told{s, 1})
	}
	return all
}

// subject is the words with which a text begins, on one line, and … for those that there is no room for. It lacks what
// divides subjects, outcomes and numbers: these would be taken for others when the line is read again.
func subject(s string) string {
	s = strings.TrimSpace(s)
	if most := maxSubject + maxWord; len(s) > most { // without the word that ends there, which may be half of one
		s = s[:1+strings.LastIndexFunc(s[:most], unicode.IsSpace)] + strings.Repeat("-", most)
	}
	words := strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case r == ';' || r == '[' || r == ']' || !unicode.IsPrint(r):
			return ' '
		case r == '—':
			return '-'
		case r == '×':
			return 'x'
		}
		return r
	}, s))
	out := ""
	for i, word := range words {
		if i > 0 {
			word = " " + word
		}
		if len(word) > maxWord || i > 0 && len(out)+len(word) > maxSubject {
			out += " …"
			break
		}
		out += word
	}
	return strings.TrimSpace(strings.ReplaceAll(out, foldTogether, ","))
}
