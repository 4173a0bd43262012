package content

import (
	"bytes"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Pinned reports whether the entry must stay as it is: its metadata has "pinned": true. Who adds an entry pins it, for
// example an instruction in the middle of a conversation. The host refuses an answer that drops or changes a pinned
// entry, so a strategy leaves it where it stands, relative to what else it keeps.
func (c Content) Pinned() bool {
	if !bytes.Contains(c.Metadata, []byte(`"pinned"`)) { // most entries: no need to scan the whole object
		return false
	}
	return string(bytes.TrimSpace(rawjson.Field(c.Metadata, "pinned"))) == "true"
}
