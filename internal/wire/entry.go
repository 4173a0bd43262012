package wire

import "github.com/thresh-dev/thresh/sdk/content"

// Entry is one entry of a history as it travels to a plugin.
type Entry struct {
	ID string
	// Tokens is what the host's tokenizer counts for the entry.
	Tokens  int
	Content content.Content
}
