package statements

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// FoldStart begins the line for calls that went.
const FoldStart = "[Earlier tool calls, results removed: "

// What a fold says of a call that gave no result, or failed.
const (
	failedCall = " — error"
	stillRuns  = " — still running"
	notKnown   = " — outcome unknown"
	noResult   = " — no result"
)

// fold reads the line for calls that went; false if a text is none.
func (r *reading) fold(text string) bool {
	list, ok := strings.CutPrefix(text, FoldStart)
	if !ok {
		return false
	}
	list, ok = strings.CutSuffix(list, "]")
	if !ok {
		return false
	}
	r.said(Fold, text, r.folded(strings.Split(list, "; ")))
	return true
}

// folded judges the list: groups of calls of a tool, which came before it and went, how often each did and how it ended,
// and at last how many more there are.
func (r *reading) folded(groups []string) string {
	calls := r.gone()
	named := map[string]bool{}
	listed := 0
	for i, group := range groups {
		if more := 0; i > 0 && i == len(groups)-1 && moreCalls(group, &more) {
			if listed+more > len(calls) {
				return fmt.Sprintf("there are no %d more calls", more)
			}
			continue
		}
		tool, list, _ := strings.Cut(group, " ")
		for _, said := range strings.Split(list, ", ") {
			name, times := often(strings.TrimSpace(tool + " " + said))
			if named[name] {
				return fmt.Sprintf("it stands there twice: %q", name)
			}
			named[name] = true
			why, right := fmt.Sprintf("no such call is gone before it: %q", name), 0
			for _, at := range calls {
				if found, wrong := r.stands(name, at); found && wrong == "" {
					right++
				} else if found {
					why = wrong
				}
			}
			if listed += times; right == 0 {
				return why
			} else if right < times {
				return fmt.Sprintf("%d such calls are gone before it: %q", right, said)
			}
		}
	}
	return ""
}

// moreCalls reads "and 3 more".
func moreCalls(group string, n *int) bool {
	read, err := fmt.Sscanf(group, "and %d more", n)
	return err == nil && read == 1 && *n > 0
}

// often reads how often a call was made: "go test ×3".
func often(said string) (name string, times int) {
	if at := strings.LastIndex(said, " ×"); at >= 0 {
		if n, err := strconv.Atoi(said[at+len(" ×"):]); err == nil && n > 1 {
			return said[:at], n
		}
	}
	return said, 1
}

// stands reports whether an item of a fold names a call of the conversation, and what is wrong with the outcome that it
// gives.
func (r *reading) stands(said string, at turns.At) (found bool, why string) {
	call := r.original[at.Entry].Content.Blocks[at.Block].(content.ToolCall)
	name, failed := strings.CutSuffix(said, failedCall)
	name, unanswered := strings.CutSuffix(name, noResult)
	name, runs := strings.CutSuffix(name, stillRuns)
	name, unknown := strings.CutSuffix(name, notKnown)
	if !slices.ContainsFunc(append(about(call), ""), func(s string) bool { return name == item(call.Name, s) }) {
		return false, ""
	}
	ref, answered := r.Checker.pairs.Response(at)
	switch {
	case !answered && !unanswered:
		return true, fmt.Sprintf("the call has no result: %q", said)
	case !answered:
		return true, ""
	case unanswered:
		return true, fmt.Sprintf("the call has a result: %q", said)
	}
	answer := r.original[ref.Entry].Content.Blocks[ref.Block].(content.ToolResponse)
	switch v, because := judge(answer); {
	case v == yes && !failed && !unknown || v == no && failed:
		return true, fmt.Sprintf("%s: %q", because, said)
	case runs && !running(call, answer):
		return true, fmt.Sprintf("nothing says that it runs on: %q", said)
	}
	return true, ""
}

// item is how a fold names a call.
func item(tool, subject string) string {
	return strings.TrimSpace(clipped(tool) + " " + clipped(subject))
}

// clipped is the words with which a text begins, in about a hundred bytes or one word, on one line and without what divides
// the list; "…" says that there are more.
func clipped(s string) string {
	const most, word = 100, 250
	s = strings.NewReplacer(";", " ", "[", " ", "]", " ", "—", "-", "×", "x").Replace(plain(s))
	var out []string
	length := 0
	for _, w := range strings.Fields(s) {
		length += len(w)
		if len(w) > word || len(out) > 0 && length+len(out) > most {
			out = append(out, "…")
			break
		}
		out = append(out, w)
	}
	return strings.ReplaceAll(strings.Join(out, " "), ", ", ",")
}

// gone lists the calls of the conversation before the entry that is read that are not in the view.
func (r *reading) gone() (calls []turns.At) {
	to := len(r.original)
	view := map[string]content.Content{}
	for i, e := range r.view {
		view[e.ID] = e.Content
		if at, ok := r.at[e.ID]; ok && i > r.index {
			to = min(to, at)
		}
	}
	for i, e := range r.original[:to] {
		for j, b := range e.Content.Blocks {
			if _, ok := b.(content.ToolCall); ok &&
				(!r.shown[i] || count(view[e.ID].Blocks, b) < count(e.Content.Blocks, b)) {
				calls = append(calls, turns.At{Entry: i, Block: j})
			}
		}
	}
	return calls
}

// count returns how many of the blocks equal b.
func count(blocks []content.Block, b content.Block) (n int) {
	for _, x := range blocks {
		if content.Equal(x, b) {
			n++
		}
	}
	return n
}
