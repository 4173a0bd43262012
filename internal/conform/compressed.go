package conform

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform/statements"
	"github.com/thresh-dev/thresh/sdk"
)

// Compressed is what a Compress came to, to be compared: two answers are the same if and only if these are equal.
type Compressed struct {
	Said   string // for people
	Failed bool
	answer string
}

// CompressedTo returns the answer of a Compress that did not fail.
func CompressedTo(noOp sdk.NoOpReason, after []statements.Entry, m sdk.CompressMetadata) Compressed {
	if noOp != "" {
		return Compressed{Said: "no-op: " + string(noOp)}
	}
	var b strings.Builder
	for _, e := range after {
		b.WriteString(e.ID)
		b.Write(e.Content.AppendJSON(nil))
	}
	counts, _ := json.Marshal(m) // numbers and names
	b.Write(counts)
	return Compressed{Said: fmt.Sprintf("%d entries, %d bytes", len(after), b.Len()), answer: b.String()}
}

// Did reports whether there is a new history.
func (c Compressed) Did() bool { return c.answer != "" }

// Different says that two answers differ that should not: of c and then of the other one.
func (c Compressed) Different(rule *check.Rule, then Compressed, detail string) *check.Error {
	return &check.Error{Index: -1, Err: rule, Detail: detail, Was: c.Said, Came: then.Said}
}
