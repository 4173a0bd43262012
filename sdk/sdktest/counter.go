package sdktest

import (
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Counter counts the tokens of a run of entries. The count of none is 0. It stands in for the host's tokenizer.
type Counter func(entries []sdk.Content) int

// Words counts an entry as its words plus one. It is easy to compute by hand: use it in tests of limits.
func Words(entries []sdk.Content) int {
	n := 0
	for _, e := range entries {
		n++
		for _, b := range e.Blocks {
			n += len(strings.Fields(blockText(b)))
		}
	}
	return n
}

// Characters counts an entry as a quarter of its characters, rounded up, plus four. It is near to what a tokenizer says
// of English text and code, and what a [Config] uses unless it says otherwise.
func Characters(entries []sdk.Content) int {
	n := 0
	for _, e := range entries {
		chars := 0
		for _, b := range e.Blocks {
			chars += utf8.RuneCountInString(blockText(b))
		}
		n += 4 + (chars+3)/4
	}
	return n
}

// blockText is what a model reads of a block, each field on lines of its own, and the MIME type of an attachment.
func blockText(b sdk.Block) string {
	p := content.Apart(b)
	var texts []string
	if mimeType, data, _ := p.Attachment(); data != "" {
		texts = append(texts, "["+mimeType+"]")
	}
	for i, f := range p.Fields {
		if f.Read() && p.Values[i] != "" {
			texts = append(texts, p.Text(i))
		}
	}
	return strings.Join(texts, "\n")
}
