package transcriptlog

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/thresh-dev/thresh/sdk/content"
)

// Read reads the file that a [Log] writes and returns an index of its entries. It ignores a last line without a line
// end, since the host may be writing it. Reading stops when ctx ends. Any other damaged line is an error: silently
// skipping it would make positions wrong.
func Read(ctx context.Context, path string) (*Index, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	var entries []content.Content
	var ids []string
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("read the transcript %s: %w", path, err)
		}
		line, rest, whole := bytes.Cut(data, []byte{'\n'})
		if !whole {
			return NewIndex(entries, ids), nil
		}
		data = rest
		id, raw := CutID(line)
		var c content.Content
		if err := c.UnmarshalJSON(raw); err != nil {
			return nil, fmt.Errorf("read the transcript %s: line %d: %w", path, n, err)
		}
		ids, entries = append(ids, id), append(entries, c)
	}
}
