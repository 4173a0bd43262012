package prepare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// The rungs. Each works until the history counts at most goal tokens, and returns how many entries it changed.

// removedResult begins the line that replaces a result. A result that begins with it is not replaced again.
const removedResult = "[result removed"

// results replaces tool results by a line, the largest first. The last exchange keeps its results.
func (l *ladder) results(ctx context.Context, goal int) (int, error) {
	all := l.resultsIn(0, l.last)
	// The largest first: as few results as possible are lost. Stable: of equal ones the oldest is removed.
	slices.SortStableFunc(all, func(a, b result) int { return cmp.Compare(b.tokens, a.tokens) })
	changed := map[int]bool{}
	for _, r := range all {
		if l.total <= goal {
			break
		}
		response := l.entries[r.entry].Blocks[r.block].(content.ToolResponse)
		// By the id the agent can ask for the result again, if there is a transcript log.
		line := fmt.Sprintf(removedResult+" to stay under the context limit: %d tokens, entry %s]",
			r.tokens, l.base.Entries[r.entry].ID)
		ok, err := l.replace(ctx, r.entry, r.block, response.WithResultText(line))
		if err != nil {
			return 0, err
		}
		if ok { // otherwise most of its tokens are its error's, or it is no longer than the line
			changed[r.entry] = true
		}
	}
	return len(changed), nil
}

func (l *ladder) removable(i int, r content.ToolResponse) bool {
	return len(r.Result) > 0 && !l.withheld[withheld{l.base.Entries[i].ID, r.CallID}] &&
		!strings.HasPrefix(string(r.Result), `"`+removedResult)
}

// exchanges removes the oldest exchanges before the last one, each call with all its responses. A call without a
// response there was interrupted and waits for nothing.
func (l *ladder) exchanges(_ context.Context, goal int) (int, error) {
	n := 0
	for _, x := range turns.Exchanges(l.entries, nil) {
		if l.total <= goal {
			break
		}
		first := l.entries[x.First()].Speaker
		// Messages of people are the next rung. An exchange is removed as a whole or not at all.
		if x.Last() >= l.last || first != content.AI && first != content.Tool || l.stays(x.Entries...) {
			continue
		}
		for _, i := range x.Entries {
			l.drop(i)
			n++
		}
	}
	return n, nil
}

// human shortens long messages of people, then removes messages, the oldest first. What a person said last is pinned.
func (l *ladder) human(ctx context.Context, goal int) (int, error) {
	// Shortened before any is removed: the beginning of a message says most of what it asks for.
	old := l.oldMessages()
	changed := map[int]bool{}
	for _, i := range old {
		for j, b := range l.entries[i].Blocks {
			if l.total <= goal {
				return len(changed), nil
			}
			// Other blocks of people are attachments, which cannot be cut.
			text, ok := b.(content.Text)
			if !ok || len(text.Text) <= headBytes {
				continue
			}
			text.Text = fmt.Sprintf("%s… [the rest was removed to stay under the context limit: entry %s]",
				head(text.Text), l.base.Entries[i].ID)
			if ok, err := l.replace(ctx, i, j, text); err != nil {
				return 0, err
			} else if ok {
				changed[i] = true
			}
		}
	}
	for _, i := range old {
		if l.total <= goal {
			break
		}
		l.drop(i)
		changed[i] = true
	}
	return len(changed), nil
}

func (l *ladder) oldMessages() []int {
	var old []int
	for i, c := range l.entries[:l.last] {
		if c.Speaker == content.Human && !l.stays(i) {
			old = append(old, i)
		}
	}
	return old
}

// headBytes is how much of a long message is kept, in bytes; about a hundred tokens.
const headBytes = 400

func head(s string) string {
	n := headBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
