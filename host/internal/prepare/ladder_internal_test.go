package prepare

import (
	"fmt"
	"testing"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// A result that lost its middle has one line for all that went. What the tool printed is cut, whatever it reads like.
func TestALineThatReadsLikeACutIsText(t *testing.T) {
	line := fmt.Sprintf(cutLine+"\n", 999_999, "e1")
	r := content.ToolResponse{}.WithResultText("a\n" + line + "b\n" + line + "c\n")
	for own, want := range map[int]cut{
		0: {r.ResultText(), -1, 0, "e1"},
		4: {"a\n" + line + "b\nc\n", len("a\n" + line + "b\n"), 999_999, "e1"},
	} {
		if got := newCut(r, "e1", marks.Places{own}); got != want {
			t.Errorf("%d: %+v", own, got)
		}
	}
}
