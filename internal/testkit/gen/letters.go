package gen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Letters makes a history with one entry per letter, for tables of cases. The text of each entry contains its
// position.
//
//	h  a person, short
//	H  a person, long
//	a  the AI, long
//	c  the AI calls two tools
//	t  a tool answers the first of the preceding calls, long
//	u  a tool answers the second
//
// Any other letter fails the test.
func Letters(tb testing.TB, letters string) []content.Content {
	tb.Helper()
	out := make([]content.Content, 0, len(letters))
	// The position of the last entry with calls: ids are unique in the history, and each t and u names the entry that
	// asked.
	call := ""
	for i, letter := range letters {
		said := fmt.Sprintf("entry %d ", i)
		entry := content.Content{Speaker: content.Human}
		switch letter {
		// About 5 tokens, and H some 750: what is worth compressing must have a size.
		case 'h':
			entry.Blocks = []content.Block{content.Text{Text: said + "of the user"}}
		case 'H':
			entry.Blocks = []content.Block{content.Text{Text: said + strings.Repeat("of the user ", 250)}}
		case 'a':
			entry.Speaker = content.AI
			entry.Blocks = []content.Block{content.Text{Text: said + strings.Repeat("of the model ", 200)}}
		case 'c':
			call = fmt.Sprint(i)
			entry.Speaker = content.AI
			entry.Blocks = []content.Block{content.ToolCall{ID: call + "t", Name: "grep"},
				content.ToolCall{ID: call + "u", Name: "grep"}}
		case 't', 'u':
			// The name is that of the call, as package turns ignores it, but providers may not.
			response := content.ToolResponse{CallID: call + string(letter), ToolName: "grep"}
			entry.Speaker = content.Tool
			entry.Blocks = []content.Block{response.WithResultText(strings.Repeat("found ", 300))}
		default:
			tb.Fatalf("gen.Letters: no entry is made of %q", letter)
		}
		out = append(out, entry)
	}
	return out
}
