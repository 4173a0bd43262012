package conform

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/sdk"
)

// squeezed is what a Compress came to, to be compared: two answers are the same if and only if these are equal.
type squeezed struct {
	said   string // for people
	failed bool
	answer string
}

// squeezedTo returns the answer of a Compress that did not fail.
func squeezedTo(r sdk.CompressResult) squeezed {
	if r.NoOp != "" {
		return squeezed{said: "no-op: " + string(r.NoOp)}
	}
	var b strings.Builder
	for _, e := range named(r.History) {
		b.WriteString(e.ID)
		b.Write(e.Content.AppendJSON(nil))
	}
	counts, _ := json.Marshal(r.Metadata) // numbers and names
	b.Write(counts)
	return squeezed{said: fmt.Sprintf("%d entries, %d bytes", len(r.History), b.Len()), answer: b.String()}
}

// did reports whether there is a new history.
func (c squeezed) did() bool { return c.answer != "" }

// different says that two answers differ that should not: of c and then of the other one.
func (c squeezed) different(rule *check.Rule, then squeezed, detail string) *check.Error {
	return &check.Error{Index: -1, Err: rule, Detail: detail, Was: c.said, Came: then.said}
}
