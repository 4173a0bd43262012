package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Limits on descriptions, in characters: longest for a text, longestName for the name of a tool or a path. A
// description is for one line of a terminal.
const (
	longest     = 60
	longestName = 80
)

// Describe returns a one-line description of each entry: for calls and responses the tool and the file or command
// that the call is about, otherwise the beginning of the text. It contains nothing that would control a terminal.
// Responses are described by their call, which must be among entries.
func Describe(entries []content.Content, taxonomy *tools.Taxonomy) []string {
	pairs := turns.Pair(entries)
	out := make([]string, len(entries))
	for i, c := range entries {
		out[i] = describe(c, func(block int) (subject string, failed bool) {
			at := turns.At{Entry: i, Block: block}
			call, ok := c.Blocks[block].(content.ToolCall)
			if !ok {
				response := c.Blocks[block].(content.ToolResponse)
				of, answered := pairs.Call(at)
				if !answered {
					return "", taxonomy.Failed(content.ToolCall{Name: response.ToolName}, response)
				}
				call = entries[of.Entry].Blocks[of.Block].(content.ToolCall)
				failed = taxonomy.Failed(call, response)
			}
			return taxonomy.Use(call.Name, call.Parameters).Subject, failed
		})
	}
	return out
}

// describe describes the most telling block of an entry and says how many more calls or responses it has.
// about says what the call of a block is about, and whether it failed.
func describe(c content.Content, about func(block int) (subject string, failed bool)) string {
	best, calls := -1, 0
	for j, b := range c.Blocks {
		if weight(b) == weightCall {
			calls++
		}
		if best < 0 || weight(b) > weight(c.Blocks[best]) {
			best = j
		}
	}
	if best < 0 {
		return "(empty)"
	}
	line := describeBlock(c.Blocks[best], func() (string, bool) { return about(best) })
	if calls > 1 {
		line += fmt.Sprintf(" (and %d more)", calls-1)
	}
	return line
}

// weightCall is the weight of a call or a response. It is above all others, so calls are counted by it.
const weightCall = 4

// weight orders blocks by how well they identify their entry. An entry is described by its heaviest block, the first
// of several: calls say more than the sentence that announces them, and blank text says nothing.
func weight(b content.Block) int {
	switch b := b.(type) {
	case content.ToolCall, content.ToolResponse:
		return weightCall
	case content.Text:
		if strings.TrimSpace(b.Text) == "" {
			return 0
		}
		return 3
	case content.Code, content.Media:
		return 2
	default:
		return 1
	}
}

// describeBlock describes one block. about is only called for calls and responses, as it parses parameters and results.
func describeBlock(b content.Block, about func() (subject string, failed bool)) string {
	switch b := b.(type) {
	case content.ToolCall:
		subject, _ := about()
		return tool(b.Name, subject)
	case content.ToolResponse:
		subject, failed := about()
		line := tool(b.ToolName, subject) + " → "
		switch {
		case b.Error != "":
			return line + "error: " + text.OneLine(b.Error, longest)
		case failed:
			return line + "error: " + quoted(b.ResultText())
		}
		return line + quoted(b.ResultText())
	case content.Text:
		return quoted(b.Text)
	case content.Code:
		return "code: " + quoted(b.Code)
	case content.Media:
		return "attachment " + text.OneLine(cmp.Or(b.Filename, b.MimeType), longestName)
	case content.Thinking:
		return "thinking: " + quoted(b.Thought)
	case content.Opaque:
		return "block of unknown kind " + text.OneLine(cmp.Or(b.Kind(), "(unnamed)"), longestName)
	}
	return "(empty)"
}

// tool returns a tool's name with the subject of the call. Names come from recordings, so they are clipped as well.
func tool(name, subject string) string {
	line := text.OneLine(cmp.Or(name, "(unnamed tool)"), longestName)
	if subject != "" {
		line += " " + text.OneLine(subject, longestName)
	}
	return line
}

// quoted returns the beginning of a text in quotation marks, which tell it from a description.
func quoted(s string) string {
	if s = text.OneLine(s, longest); s == "" {
		return "(empty)"
	}
	return `"` + s + `"`
}
