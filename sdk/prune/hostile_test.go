package prune

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/hostile"
	"github.com/thresh-dev/thresh/sdk"
)

// Whatever a person includes, in one text or in many, takes time in proportion.
func FuzzGrown(f *testing.F) {
	hostile.Fuzz(f, func(text string) {
		findInclusions([]sdk.Block{sdk.Text{Text: text}})
		var blocks []sdk.Block
		for rest := text; rest != ""; rest = rest[min(30, len(rest)):] {
			blocks = append(blocks, sdk.Text{Text: rest[:min(30, len(rest))]})
		}
		findInclusions(blocks)
	},
		hostile.Text{Open: openPrefix + "a" + openSuffix + "\n"}, hostile.Text{Open: closeLine + "\n"},
		hostile.Text{Open: openPrefix + "a" + openSuffix + "\n", Close: closeLine + "\n"},
		hostile.Text{Open: openPrefix + "%d" + openSuffix + "\n" + closeLine + "\n"},
		hostile.Text{Start: blockOpen + "\n", Open: blockPrefix + "a" + blockSuffix + "\nx\n", End: closeLine},
		hostile.Text{Start: blockOpen + "\n" + closeLine + "\n", Open: blockPrefix}, hostile.Text{Open: "--- "},
	)
}
