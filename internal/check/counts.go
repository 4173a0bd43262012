package check

import (
	"fmt"

	"github.com/thresh-dev/thresh/internal/text"
)

// Bounds of a strategy's own counters, which are in each outcome and shown to people.
const (
	MaxCounts     = 64
	MaxCountLabel = 64 // bytes
)

// Counts judges the counters that a strategy reports of a Compress; the error wraps [ErrCounts].
func Counts(counts map[string]int64) error {
	if len(counts) > MaxCounts {
		return fmt.Errorf("%w: %d labels, at most %d are allowed", ErrCounts, len(counts), MaxCounts)
	}
	for label := range counts {
		if label == "" || len(label) > MaxCountLabel || text.Printable(label, MaxCountLabel) != label {
			return fmt.Errorf("%w: the label %q is empty, longer than %d bytes or not printable", ErrCounts,
				text.Printable(label, MaxCountLabel), MaxCountLabel)
		}
	}
	return nil
}
