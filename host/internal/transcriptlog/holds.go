package transcriptlog

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Holds reports whether an entry has the tool call with an id, or a response to it.
func Holds(c content.Content, id string) bool {
	return id != "" && slices.ContainsFunc(c.Blocks, func(b content.Block) bool {
		its, _ := content.CallID(b)
		return its == id
	})
}
