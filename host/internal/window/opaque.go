package window

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/apis"
	"github.com/thresh-dev/thresh/internal/nearest"
	"github.com/thresh-dev/thresh/sdk/content"
)

// noOpaque returns an error for the first block of an unknown kind, with what was probably meant. No strategy can read
// such a block, and a call or response in it is paired with nothing.
func noOpaque(c content.Content) error {
	for i, b := range c.Blocks {
		o, opaque := b.(content.Opaque)
		// Opaque blocks of a known kind lack a field, for which another check has a better message.
		if !opaque || o.Kind() == "" || content.KindNamed(o.Kind()) != nil {
			continue
		}
		kind, kinds := o.Kind(), content.KindNames()
		hint := "; want one of: " + strings.Join(kinds, ", ")
		// First what other formats call it ("tool_use"), then a spelling mistake.
		if meant := cmp.Or(apis.Means(kind), nearest.One(kind, kinds)); meant != "" {
			hint = fmt.Sprintf(", did you mean %q?", meant)
		}
		return &content.PathError{Path: fmt.Sprintf("blocks[%d].type", i), Err: fmt.Errorf(
			"block %d: unknown type %.40q%s (entries with such blocks must be added as opaque)", i, kind, hint)}
	}
	return nil
}
