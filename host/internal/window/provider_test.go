package window_test

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
)

// accepts checks a history as a provider does: it refuses a request in which a tool result does not follow its call
// directly, in which a call has no result, or in which an entry says nothing. Calls of the last message may wait for
// their results.
func accepts(history []content.Content, mayWait bool) error {
	waiting := map[string]int{}
	open := 0
	for i, c := range history {
		if len(c.Blocks) == 0 {
			return fmt.Errorf("entry %d says nothing", i)
		}
		if c.Speaker != content.Tool && open > 0 && !(c.Speaker == content.AI && history[i-1].Speaker == content.AI) {
			return fmt.Errorf("entry %d (%s) comes while %d calls have no result", i, c.Speaker, open)
		}
		if c.Speaker == content.AI && (i == 0 || history[i-1].Speaker != content.AI) {
			clear(waiting)
		}
		for _, b := range c.Blocks {
			switch b := b.(type) {
			case content.ToolCall:
				if c.Speaker != content.AI {
					return fmt.Errorf("entry %d: a call of %s", i, c.Speaker)
				}
				waiting[b.ID]++
				open++
			case content.ToolResponse:
				if c.Speaker != content.Tool || waiting[b.CallID] == 0 {
					return fmt.Errorf("entry %d: the result of %q answers no call of the message before", i, b.CallID)
				}
				waiting[b.CallID]--
				open--
			}
		}
	}
	if open > 0 && !mayWait {
		return fmt.Errorf("%d calls have no result at the end", open)
	}
	return nil
}

// pointer is what an inclusion leaves that was stripped.
var pointer = regexp.MustCompile(`\[Earlier inclusion of [^\n]* removed — included again later\]`)

// lost returns what a person said in before and does not in after, "" if nothing: every entry of a person is there, in
// order, and differs at most in inclusions that were stripped.
func lost(before, after []content.Content) string {
	rest := people(after)
	for _, c := range people(before) {
		if len(rest) == 0 || len(rest[0].Blocks) != len(c.Blocks) {
			return fmt.Sprintf("the entry %.100q", c.Blocks)
		}
		for i, b := range c.Blocks {
			text, ok := b.(content.Text)
			if !ok {
				if !content.Equal(b, rest[0].Blocks[i]) {
					return fmt.Sprintf("block %d of %.100q", i, c.Blocks)
				}
				continue
			}
			left, _ := rest[0].Blocks[i].(content.Text)
			from := text.Text
			for _, kept := range pointer.Split(left.Text, -1) {
				at := strings.Index(from, kept)
				if at < 0 || (left.Text != text.Text && !strings.Contains(text.Text, "--- End of content ---")) {
					return fmt.Sprintf("the text %.100q", kept)
				}
				from = from[at+len(kept):]
			}
		}
		rest = rest[1:]
	}
	return ""
}

// people are the entries of people.
func people(history []content.Content) (out []content.Content) {
	for _, c := range history {
		if c.Speaker == content.Human {
			out = append(out, c)
		}
	}
	return out
}
