package history

import "github.com/thresh-dev/thresh/sdk/content"

// Entry is one record of an owned history. It is never changed once it is in: a rewrite makes a new Entry, so that
// whoever holds a snapshot may go on reading it.
type Entry struct {
	// ID is unique in its history and stays for as long as the entry lives; an entry whose blocks were edited keeps it.
	ID string
	// Tokens is what the host's tokenizer counted when the entry came in.
	Tokens  int
	Content content.Content
}
