package turns_test

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// made turns words into a history, an entry a word: "h" is a human, "a" the AI in words, "a:1,2" the AI calling 1 and
// 2, "t:1,2" a tool answering them, "s" an unknown speaker. Letters behind an id are the name of the tool: "a:1r".
func made(words string) []content.Content {
	var history []content.Content
	for word := range strings.FieldsSeq(words) {
		who, ids, _ := strings.Cut(word, ":")
		c := content.Content{Speaker: map[string]content.Speaker{"h": content.Human, "a": content.AI, "t": content.Tool,
			"s": "system"}[who]}
		if ids == "" {
			c.Blocks = []content.Block{content.Text{Text: word}}
		}
		for _, id := range strings.FieldsFunc(ids, func(r rune) bool { return r == ',' }) {
			number := strings.TrimRight(id, "rwx")
			name := id[len(number):]
			if who == "t" || who == "h" {
				c.Blocks = append(c.Blocks, content.ToolResponse{CallID: number, ToolName: name})
			} else {
				c.Blocks = append(c.Blocks, content.ToolCall{ID: number, Name: name})
			}
		}
		history = append(history, c)
	}
	return history
}

// histories generates well-formed and odd histories alike: few ids, so that they repeat, any order, any speaker.
func histories() *rapid.Generator[[]content.Content] {
	return rapid.Custom(func(t *rapid.T) []content.Content {
		n := rapid.IntRange(0, 30).Draw(t, "entries")
		var words []string
		for range n {
			who := rapid.SampledFrom([]string{"h", "a", "a", "t", "t", "s"}).Draw(t, "speaker")
			id := rapid.Custom(func(t *rapid.T) string {
				return fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "id"),
					rapid.SampledFrom([]string{"", "r", "w"}).Draw(t, "name"))
			})
			words = append(words, who+":"+strings.Join(rapid.SliceOfN(id, 0, 5).Draw(t, "ids"), ","))
		}
		return made(strings.Join(words, " "))
	})
}

// pairsOf finds the pairs as the rule says, one response after the other.
func pairsOf(history []content.Content) (calls, responses []turns.At) {
	for i, c := range history {
		for j, b := range c.Blocks {
			r, ok := b.(content.ToolResponse)
			if !ok || c.Speaker != content.Tool {
				continue
			}
			for k := i - 1; k >= 0; k-- {
				if call, ok := answers(history[k], k, r, calls); ok {
					calls, responses = append(calls, call), append(responses, turns.At{Entry: i, Block: j})
					break
				}
			}
		}
	}
	return calls, responses
}

// answers finds the call of entry k that a response answers: by name, else the first.
func answers(entry content.Content, k int, r content.ToolResponse, answered []turns.At) (turns.At, bool) {
	for _, anyName := range []bool{false, true} {
		for l, b := range entry.Blocks {
			at := turns.At{Entry: k, Block: l}
			call, ok := b.(content.ToolCall)
			if ok && entry.Speaker == content.AI && call.ID == r.CallID && (anyName || call.Name == r.ToolName) &&
				!slices.Contains(answered, at) {
				return at, true
			}
		}
	}
	return turns.At{}, false
}
