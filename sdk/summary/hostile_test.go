package summary

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/hostile"
	"github.com/thresh-dev/thresh/sdk"
)

// A model's reply and an earlier summary may hold the parts of a summary in any number.
func FuzzGrown(f *testing.F) {
	hostile.Fuzz(f, func(text string) {
		_, _ = extract(text)
		entry := sdk.Content{Speaker: sdk.Human, Blocks: []sdk.Block{sdk.Text{Text: text}}}
		readPrior(entry, text)
		if all, ok := priorText(entry); ok {
			readPrior(entry, all)
		}
		IsLine("t", text)
	},
		hostile.Text{Open: openTag}, hostile.Text{Open: closeTag}, hostile.Text{Open: openTag, Close: closeTag},
		hostile.Text{Start: openTag + "x" + closeTag + wordsHead + wordsAll, Open: messageStart + "1" + messageEnd},
		hostile.Text{Start: openTag + "x" + closeTag + wordsHead + wordsAll, Open: messageStart},
		hostile.Text{Start: openTag + "x" + closeTag, Open: factsHead + "- x\n" + readHead + "- y"},
		hostile.Text{Start: openTag + "x" + closeTag + factsHead, Open: "- x\n"}, hostile.Text{Open: "```"},
		hostile.Text{Open: "<"},
	)
}
