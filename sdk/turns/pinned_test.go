package turns_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

func TestPinnedEntriesComeWithTheirExchanges(t *testing.T) {
	says := func(s content.Speaker, pinned bool, b content.Block) content.Content {
		c := content.Content{Speaker: s, Blocks: []content.Block{b}}
		if pinned {
			c.Metadata = []byte(`{"a":"\"pinned\"","pinned": true }`)
		}
		return c
	}
	history := []content.Content{
		says(content.Human, true, content.Text{Text: "outside"}),
		says(content.Human, false, content.Text{Text: "a"}),
		says(content.AI, false, content.ToolCall{ID: "1", Name: "read"}),
		says(content.Human, true, content.Text{Text: "rule"}),
		says(content.Tool, true, content.ToolResponse{CallID: "1"}),
		says(content.AI, false, content.Text{Text: "b"}),
	}
	if diff := cmp.Diff([]int{2, 3, 4}, turns.Pinned(history, 1, len(history))); diff != "" {
		t.Error(diff)
	}
	kept := turns.KeepLast(history, 1)
	if want := slices.Concat(history[:1], history[2:]); !slices.EqualFunc(want, kept, content.Content.Equal) {
		t.Errorf("the last entry and the pinned ones are %v", kept)
	}
	if got := turns.Pinned(history, 5, 6); got != nil {
		t.Errorf("nothing is pinned there: %v", got)
	}
}
