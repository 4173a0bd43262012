package marks

import (
	"encoding/json"
	"strings"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Exchange finds the calls that results answer, entry by entry, if both are in one exchange: a request has no others.
// The zero value has seen nothing.
type Exchange struct {
	match turns.Matcher
	calls []content.ToolCall
	ai    bool // the last entry was the AI's
	n     int
}

// Add reads the next entry of a conversation, and calls answered for each response in it whose call is known.
func (x *Exchange) Add(entry *content.Content, answered func(block int, call content.ToolCall)) {
	if entry.Speaker == content.AI && !x.ai {
		*x = Exchange{}
	}
	x.ai = entry.Speaker == content.AI
	x.n++
	for j, b := range entry.Blocks {
		switch b := b.(type) {
		case content.ToolCall:
			if x.ai {
				x.match.Call(b.ID, b.Name, turns.At{Entry: x.n, Block: len(x.calls)})
				x.calls = append(x.calls, b)
			}
		case content.ToolResponse:
			if entry.Speaker != content.Tool {
				continue
			}
			if at, ok := x.match.Response(b.CallID, b.ToolName); ok && answered != nil {
				answered(j, x.calls[at.Block])
			}
		}
	}
}

func LabelOf(t *tools.Taxonomy, call content.ToolCall) string {
	return Label(call.Name, t.Use(call.Name, call.Parameters).Subject)
}

// Result is a result in a history that a mark may refer to.
type Result struct {
	Entry, Block int
	Label        string
}

// Results returns the results of a history that have text, in their order.
func Results(n int, at func(int) *content.Content, t *tools.Taxonomy) (all []Result) {
	var x Exchange
	for i := range n {
		entry := at(i)
		x.Add(entry, func(block int, call content.ToolCall) {
			if HasText(entry.Blocks[block].(content.ToolResponse).Result) {
				all = append(all, Result{i, block, LabelOf(t, call)})
			}
		})
	}
	return all
}

// HasText reports whether a result has lines. One without is not counted as a result.
func HasText(result json.RawMessage) bool {
	for _, s := range content.Literals(result) {
		if s.Text != "" {
			return true
		}
	}
	return false
}

// ResultLines returns the lines of a result, without their line breaks.
func ResultLines(result json.RawMessage) (lines []string) {
	for _, s := range content.Literals(result) {
		lines = linesOf(lines, s.Text)
	}
	return lines
}

func linesOf(lines []string, text string) []string {
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}
