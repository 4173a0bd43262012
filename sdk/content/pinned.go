package content

import (
	"bytes"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Pinned reports whether the entry must not change: its metadata has "pinned": true, set by whoever added it, for
// example to an instruction in the middle of a conversation. The host refuses an answer that drops or changes a pinned
// entry; it keeps its order among the other kept entries.
func (c Content) Pinned() bool {
	if !bytes.Contains(c.Metadata, []byte(`"pinned"`)) { // most entries: no need to scan the object
		return false
	}
	return string(bytes.TrimSpace(rawjson.Field(c.Metadata, "pinned"))) == "true"
}
