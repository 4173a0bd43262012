// Package conform has the rules for answers of strategies that the host does not enforce, each a function over an answer:
// 'thresh plugins verify' holds plugins to them over the wire, and package sdktest strategies in a test's process. The
// histories are those of package samples; what the host does enforce is in package check.
package conform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform/statements"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
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

// Answer is what became of a history. An entry has the same id in both, also if it was edited.
type Answer struct {
	Given, After []statements.Entry
	// Compress is what a Compress says of it; nil for an Optimize.
	Compress *sdk.CompressMetadata
	// TokensBefore and TokensAfter are the sizes of the two, and Target what was to be reached.
	TokensBefore, TokensAfter int
	Target                    float64
}

// Size demands that a Compress gets smaller, and reaches its target or says that it did not.
func (a Answer) Size() error {
	return check.Size(a.TokensBefore, a.TokensAfter, len(a.Given), len(a.After), a.Target, a.Compress.TargetMissed)
}

// Statements demands that what is written into a history is true, as far as that can be told of sentences that are the
// strategy's own: text may only make place for whole lines in square brackets, and those in the words of the strategies
// that ship must hold, such as "[… 3 lines omitted]" or "[Earlier inclusion of a.go removed — included again later]". A
// model believes them. read is how many sentences there were.
func (a Answer) Statements(root string) (read int, err error) {
	c := statements.New(statements.Options{Root: root, Foreign: true})
	c.Add(a.Given...)
	r := c.Check(a.After)
	for _, f := range r.False() {
		return len(r.All), fmt.Errorf("entry %s says %.200q, but %s", f.Entry, f.Sentence, f.Why)
	}
	return len(r.All), nil
}

// People demands that entries of people do not disappear from a Compress silently. A strategy may drop or merge them,
// but must then say so in its metadata: that is how a user learns that an instruction is no longer in the history. lost
// of the human entries are gone.
func (a Answer) People() (lost, of int, err error) {
	lost, of = a.lost()
	if said := a.announced(); lost > said {
		err = fmt.Errorf("%d of %d entries of people are gone, and the metadata speaks of %d: "+
			"count what is dropped, or say what was preserved", lost, of, said)
	}
	return lost, of, err
}

// mostQuotes limits how much text of new entries is searched for quotes, in bytes. The search is quadratic, and a
// summary is far smaller; a strategy that copies megabytes keeps the entries anyway.
const mostQuotes = 256 << 10

// lost counts the human entries whose words are not in the new history. An entry is not lost if it was kept, or if each
// of its texts is quoted in an entry that the strategy made or edited, whole or as part of a longer text.
func (a Answer) lost() (lost, of int) {
	old := make(map[string]content.Content, len(a.Given))
	for _, e := range a.Given {
		old[e.ID] = e.Content
	}
	// Texts of new entries, for whole quotes; fresh is the same as one text, for parts of longer ones.
	kept, said := map[string]bool{}, map[string]bool{}
	var fresh strings.Builder
	for _, e := range a.After {
		if was, ok := old[e.ID]; ok && was.Equal(e.Content) {
			kept[e.ID] = true
			continue
		}
		for _, t := range texts(e.Content) {
			said[t] = true
			if fresh.Len() < mostQuotes {
				fresh.WriteString(t)
			}
		}
	}
	for _, e := range a.Given {
		if e.Content.Speaker != content.Human || !e.Content.HasContent() {
			continue
		}
		of++
		missing := func(t string) bool { return !said[t] && !strings.Contains(fresh.String(), t) }
		if !kept[e.ID] && slices.ContainsFunc(texts(e.Content), missing) {
			lost++
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
