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
// 2, "t:1,2" a tool answering them, "s" an unknown speaker.
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
			if who == "t" || who == "h" {
				c.Blocks = append(c.Blocks, content.ToolResponse{CallID: id})
			} else {
				c.Blocks = append(c.Blocks, content.ToolCall{ID: id})
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
			ids := rapid.SliceOfN(rapid.IntRange(1, 4), 0, 3).Draw(t, "ids")
			words = append(words, who+":"+strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", ","))
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
				found := false
				for l, before := range slices.Backward(history[k].Blocks) {
					call, ok := before.(content.ToolCall)
					if ok && history[k].Speaker == content.AI && call.ID == r.CallID &&
						!slices.Contains(calls, turns.At{Entry: k, Block: l}) {
						calls = append(calls, turns.At{Entry: k, Block: l})
						responses = append(responses, turns.At{Entry: i, Block: j})
						found = true
						break
					}
				}
				if found {
					break
				}
			}
		}
	}
	return calls, responses
}
