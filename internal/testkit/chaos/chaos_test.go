package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testkit/binaries"
)

// A short run finds what breaks often, and that the driver itself works. Nothing in it depends on how fast the machine
// is: it counts what happened, and expects only that something did.
func TestSomeSecondsOfChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: it takes some seconds")
	}
	thresh, err := binaries.Build("host/cmd/thresh")
	if err != nil {
		t.Fatal(err)
	}
	plugins := t.TempDir()
	if err := binaries.Strategies(plugins, strategies...); err != nil {
		t.Fatal(err)
	}
	o := options{
		thresh: thresh[0], plugins: plugins, lasts: 3 * time.Second, sessions: 9, seed: uint64(time.Now().UnixNano()),
	}
	r, err := run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	r.print(&table)
	if !r.good() || r.prepares == 0 || r.closed < o.sessions {
		t.Errorf("%s", &table)
	}
	for line := range strings.Lines(table.String()) {
		if r.good() && len(strings.TrimSpace(line)) > 78 {
			t.Errorf("the table is wider than a terminal: %q", line)
		}
	}
}
