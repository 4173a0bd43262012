package statements

import (
	"fmt"
	"slices"
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

// folded judges the list: each stands for calls before it that went and ended as it says. An ellipsis says that there
// were more.
func (r *reading) folded(list []string) string {
	calls := r.gone()
	listed := map[turns.At]bool{}
	for i, said := range list {
		if said == "…" && i == 0 {
			continue
		}
		if slices.Contains(list[:i], said) {
			return fmt.Sprintf("it stands there twice: %q", said)
		}
		why := fmt.Sprintf("no such call is gone before it: %q", said)
		for _, at := range calls {
			found, wrong := r.stands(said, at)
			if found && wrong == "" {
				listed[at] = true
				why = ""
			} else if found && why != "" {
				why = wrong
			}
		}
		if why != "" {
			return why
		}
	}
	if list[0] == "…" && len(listed) == len(calls) {
		return "there were no more calls"
	}
	return ""
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

// clipped is the beginning of a text, in about a hundred bytes, on one line and without what divides the list.
func clipped(s string) string {
	const most = 100
	end := min(len(s), most)
	for end < len(s) && s[end]&0xc0 == 0x80 {
		end++
	}
	s = strings.NewReplacer(";", " ", "[", " ", "]", " ", "—", "-").Replace(plain(s[:end]))
	return strings.Join(strings.Fields(s), " ")
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
