package conform

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform/statements"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Prompt is the prompt, and Snapshot the answer of the model, for strategies that summarise.
const (
	Prompt = "Write a summary of the session that lets the agent go on. " +
		"Answer with one <state_snapshot> … </state_snapshot>."
	Snapshot = `<state_snapshot>
  <overall_goal>Mend the parser, which drops the last line of a file without a newline.</overall_goal>
  <current_state>The files were read, and the tests run. The tests in some folders are to be left alone.</current_state>
</state_snapshot>`
)

// Limit returns the context limit at which a history of so many tokens is at a threshold. The minimum keeps the target
// of tiny histories above zero.
func Limit(tokens int, threshold float64) int { return max(int(float64(tokens)/threshold), 100) }

// Pending returns how many tokens a request has besides a history of so many entries and tokens: in every other history
// as many as that, so that it shows whether a strategy leaves them room.
func Pending(entries, tokens int) int { return entries % 2 * tokens }

// Answer is what became of a history. An entry has the same id in both, also if it was edited.
type Answer struct {
	Given, After []statements.Entry
	// Added is Given before an earlier pass put marks into it; nil if that is not known.
	Added []statements.Entry
	// Compress is what a Compress says of it; nil for an Optimize.
	Compress *sdk.CompressMetadata
	NoOp     sdk.NoOpReason
	// TokensBefore and TokensAfter are the sizes of the two, and Target what was to be reached.
	TokensBefore, TokensAfter int
	Target                    float64
}

// Size demands that a Compress gets smaller, and reaches its target or says that it did not. One that is not smaller
// costs the prompt cache and gains nothing; an equal count with fewer entries passes, as counts are estimates. One that
// misses the target has to say so, or the host would call again on the next turn; and one that does nothing over the
// target must not say that it is reached, or the host has to make room turn after turn.
func (a Answer) Size() []*check.Error {
	switch before, after := a.TokensBefore, a.TokensAfter; {
	case a.NoOp == sdk.NoOpAlreadyUnderTarget && float64(before) > a.Target:
		return []*check.Error{whole(ErrNotUnder, "%d tokens, the target is %.0f", before, a.Target)}
	case a.NoOp != "":
	case after > before, after == before && len(a.After) == len(a.Given):
		return []*check.Error{whole(ErrNotSmaller, "%d tokens, before %d", after, before)}
	case float64(after) > a.Target && !a.Compress.TargetMissed:
		return []*check.Error{whole(ErrTargetMissed, "%d tokens, the target is %.0f", after, a.Target)}
	}
	return nil
}

// Window demands that a request of so many tokens, with the answer, fits the model's window.
func Window(tokens int, req sdk.GenerateRequest, m sdk.Model) *check.Error {
	answer := cmp.Or(req.MaxOutputTokens, m.MaxOutput)
	if tokens+answer <= m.ContextLimit {
		return nil
	}
	return whole(ErrWindow, "%d tokens and %d for the answer, the window has %d", tokens, answer, m.ContextLimit)
}

func whole(rule *check.Rule, format string, args ...any) *check.Error {
	return &check.Error{Index: -1, Err: rule, Detail: fmt.Sprintf(format, args...)}
}

// Statements demands that what is written into a history is true, as far as that can be told of sentences that are the
// strategy's own: text may only make place for whole lines in square brackets, and those in the words of the strategies
// that ship must hold, such as "[… 3 lines omitted]" or "[Earlier inclusion of a.go removed — included again later]". A
// model believes them. Marks of earlier passes count for what they stand for; where that is not known, nothing is
// judged. read is how many sentences there were that were not there before.
func (a Answer) Statements(root string) (read int, found []*check.Error) {
	c := statements.New(statements.Options{Root: root, Foreign: true})
	type sentence struct{ entry, said string }
	before, unknown := map[sentence]bool{}, map[string]bool{}
	if a.Added != nil {
		c.Add(a.Added...)
		for _, f := range c.Check(a.Given).All {
			before[sentence{f.Entry, f.Sentence}] = true
		}
	} else {
		c.Add(a.Given...)
		for _, e := range a.Given {
			unknown[e.ID] = marked(e.Content)
		}
	}
	at := places(a.Given)
	some := slices.ContainsFunc(a.Given, func(e statements.Entry) bool { return unknown[e.ID] })
	report, own := c.Check(a.After), map[string]bool{}
	for _, f := range report.False() {
		own[f.Entry] = own[f.Entry] || !before[sentence{f.Entry, f.Sentence}]
	}
	for _, f := range report.All {
		i, known := at[f.Entry]
		old := before[sentence{f.Entry, f.Sentence}]
		if !old {
			read++
		}
		// The host mends an earlier mark when what it refers to goes, and one next to a wrong one is not to blame.
		refers := f.Kind == statements.Repeated || f.Kind == statements.Inclusion
		if f.Why == "" || unknown[f.Entry] || !known && some || old && (refers || own[f.Entry]) {
			continue
		}
		e := &check.Error{Index: f.Index, New: true, Err: ErrUntrue, Detail: f.Why, Came: text.OneLine(f.Sentence, 200)}
		if f.Kind == statements.Failure {
			e.Err = ErrFailureGone
		}
		if known {
			e.Index, e.New = i, false
		}
		found = append(found, e)
	}
	return read, found
}

// Untrue is what [Answer.Statements] finds between a history and what became of it, which says where its entries stood.
func Untrue(history, after []sdk.Content, root string) error {
	var found Findings
	_, untrue := Answer{Given: given(history), After: named(after)}.Statements(root)
	found.Judged("", untrue...)
	return found.Err()
}

// marked reports whether an entry has a mark, a line in place of a result, or the line for calls that went.
func marked(c content.Content) bool {
	return slices.ContainsFunc(c.Blocks, func(b content.Block) bool {
		said := ""
		switch b := b.(type) {
		case content.Text:
			said = b.Text
		case content.ToolResponse:
			said = b.ResultText()
		}
		for line := range strings.Lines(said) {
			_, whole := tools.LineOutcome(strings.TrimSuffix(line, "\n"))
			if whole || marks.Like(line) || strings.HasPrefix(line, statements.FoldStart) {
				return true
			}
		}
		return false
	})
}

// places are the positions of entries by id.
func places(entries []statements.Entry) map[string]int {
	at := make(map[string]int, len(entries))
	for i, e := range entries {
		at[e.ID] = i
	}
	return at
}

// Repeated finds new entries that say what an entry of the history says that is still there.
func (a Answer) Repeated() (found []*check.Error) {
	at := places(a.Given)
	kept := map[string]int{} // by their form
	form := func(c content.Content) string {
		out := []byte(c.Speaker)
		for _, b := range c.Blocks {
			out = content.AppendBlock(out, b)
		}
		return string(out)
	}
	fresh := slices.DeleteFunc(slices.Clone(a.After), func(e statements.Entry) bool { _, old := at[e.ID]; return old })
	if len(fresh) == 0 {
		return nil
	}
	for _, e := range a.After {
		if i, old := at[e.ID]; old {
			kept[form(e.Content)] = i
		}
	}
	for _, e := range fresh {
		if i, twice := kept[form(e.Content)]; twice {
			found = append(found, &check.Error{Index: i, Err: check.ErrTwice, Came: beginning(e.Content)})
		}
	}
	return found
}

// People demands that entries of people do not disappear from a Compress silently. A strategy may drop or merge them,
// but must then say so in its metadata: that is how a user learns that an instruction is no longer in the history. And
// what was said last outlives what was said before. gone of the human entries are gone.
func (a Answer) People() (gone, of int, found []*check.Error) {
	lost, of := a.lost()
	if said := a.announced(); len(lost) > said {
		for _, i := range lost {
			found = append(found, &check.Error{Index: i, Err: ErrPeopleGone, Was: beginning(a.Given[i].Content),
				Detail: fmt.Sprintf("%d of %d entries of people are gone, and the metadata speaks of %d", len(lost), of, said)})
		}
	}
	if n := len(lost); n > 0 && a.olderStays(lost[n-1]) {
		found = append(found, &check.Error{Index: lost[n-1], Err: ErrNewestGone, Was: beginning(a.Given[lost[n-1]].Content)})
	}
	return len(lost), of, found
}

func beginning(c content.Content) string { return text.OneLine(strings.Join(texts(c), " "), 100) }

// olderStays reports whether entry i is the newest of a person, and an older one stays that need not.
func (a Answer) olderStays(i int) bool {
	person := func(e statements.Entry) bool { return e.Content.Speaker == content.Human && e.Content.HasContent() }
	if slices.ContainsFunc(a.Given[i+1:], person) {
		return false
	}
	after := places(a.After)
	return slices.ContainsFunc(a.Given[:i], func(e statements.Entry) bool {
		_, stays := after[e.ID]
		return stays && person(e) && !e.Content.Pinned()
	})
}

// maxQuotes limits how much text of new entries is searched for quotes, in bytes. The search is quadratic, and a
// summary is far smaller; a strategy that copies megabytes keeps the entries anyway.
const maxQuotes = 256 << 10

// lost lists the human entries that are gone, of all. One is not gone if it is there, in whatever form, or if each of
// its texts is quoted in an entry that the strategy made, whole or as part of a longer text.
func (a Answer) lost() (lost []int, of int) {
	at, kept := places(a.Given), map[string]bool{}
	// Texts of new entries, for whole quotes; fresh is the same as one text, for parts of longer ones.
	said := map[string]bool{}
	var fresh strings.Builder
	for _, e := range a.After {
		if _, old := at[e.ID]; old {
			kept[e.ID] = true
			continue
		}
		for _, t := range texts(e.Content) {
			said[t] = true
			if fresh.Len() < maxQuotes {
				fresh.WriteString(t)
			}
		}
	}
	for i, e := range a.Given {
		if e.Content.Speaker != content.Human || !e.Content.HasContent() {
			continue
		}
		of++
		missing := func(t string) bool { return !said[t] && !strings.Contains(fresh.String(), t) }
		if !kept[e.ID] && slices.ContainsFunc(texts(e.Content), missing) {
			lost = append(lost, i)
		}
	}
	return lost, of
}

// texts returns the text blocks of an entry. Other blocks hold nothing that a person said.
func texts(c content.Content) (out []string) {
	for _, b := range c.Blocks {
		if t, ok := b.(content.Text); ok {
			out = append(out, t.Text)
		}
	}
	return out
}

// announced returns how many entries the metadata reports as gone, by the most generous reading of its fields: any
// count may be the one that covers human entries. The rule is about silence, not about bookkeeping.
func (a Answer) announced() int {
	m, most := a.Compress, 0
	if m.MiddleCompressed != nil {
		most = *m.MiddleCompressed
	}
	if m.TopPreserved != nil || m.BottomPreserved != nil {
		rest := len(a.Given)
		for _, n := range []*int{m.TopPreserved, m.BottomPreserved} {
			if n != nil {
				rest -= *n
			}
		}
		most = max(most, rest)
	}
	for _, n := range m.Counts {
		most = max(most, int(n))
	}
	return most
}

// Edges returns values that a setting's declaration allows and that are most likely to break: its bounds, its named
// values, and both booleans; of a number whose bounds say nothing, another one than its default. Off-by-one checks fail
// at the bounds. They are JSON.
func Edges(f sdk.ConfigField) (out []json.RawMessage) {
	add := func(value any) {
		if raw, err := json.Marshal(value); err == nil { // fails for infinities, which bound nothing
			out = append(out, raw)
		}
	}
	for _, bound := range []*float64{f.Minimum, f.Maximum} {
		if bound != nil {
			add(*bound)
		}
	}
	if d, err := strconv.ParseFloat(fmt.Sprint(f.Default), 64); err == nil && f.Maximum == nil &&
		(f.Type == sdk.Integer || f.Type == sdk.Number) && (f.Minimum == nil || *f.Minimum == d) {
		add(2*d + 1)
	}
	for _, v := range f.Allowed {
		add(v)
	}
	if f.Type == sdk.Boolean {
		add(true)
		add(false)
	}
	return out
}
