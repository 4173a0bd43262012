package wire

import "github.com/thresh-dev/thresh/sdk/content"

// Entry is one entry of a history as it travels to a plugin. Answers refer to entries by position; ID serves logs and
// mirrors only.
type Entry struct {
	ID string
	// Tokens is the entry's size by the host's tokenizer: strategies need none, and both sides agree on sizes.
	Tokens  int
	Content content.Content
}
