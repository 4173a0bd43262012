package proxy_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// tally counts by row and column, and is logged when its test ends.
type tally struct {
	mu  sync.Mutex
	all map[string]map[string]course
}

func newTally(t *testing.T) *tally {
	c := &tally{all: map[string]map[string]course{}}
	t.Cleanup(func() { t.Log("requests sent/edited/refused/failed\n" + c.String()) })
	return c
}

func (c *tally) add(column, row string, g course) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[row] == nil {
		c.all[row] = map[string]course{}
	}
	was := c.all[row][column]
	c.all[row][column] = course{sent: was.sent + g.sent, edited: was.edited + g.edited, refused: was.refused + g.refused,
		failed: was.failed + g.failed}
}

func (c *tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-24s", "")
	for _, s := range strategies {
		fmt.Fprintf(&b, "%-21s", s)
	}
	for _, row := range slices.Sorted(maps.Keys(c.all)) {
		fmt.Fprintf(&b, "\n%-24s", row)
		for _, s := range strategies {
			cell := ""
			if g, ok := c.all[row][s]; ok {
				cell = fmt.Sprintf("%d/%d/%d/%d", g.sent, g.edited, g.refused, g.failed)
			}
			fmt.Fprintf(&b, "%-21s", cell)
		}
	}
	return b.String()
}
