package check_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/check"
)

func TestCounts(t *testing.T) {
	many := map[string]int64{}
	for i := range check.MaxCounts {
		many[fmt.Sprint("n", i)] = 1
	}
	if err := check.Counts(many); err != nil {
		t.Errorf("as many as are allowed: %v", err)
	}
	many["one-more"] = 1
	for name, counts := range map[string]map[string]int64{
		"too many": many, "empty": {"": 1}, "control character": {"a\x1b[2J": 1}, "not UTF-8": {"a\xff": 1},
		"too long": {strings.Repeat("x", check.MaxCountLabel+1): 1},
	} {
		if err := check.Counts(counts); !errors.Is(err, check.ErrCounts) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
