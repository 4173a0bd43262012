package main

import (
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/full"
)

// The page shows what the program prints.
func TestPageHasTheTable(t *testing.T) {
	page, err := os.ReadFile("../scale.md")
	if err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	all := scenarios()
	table(&printed, all[:full.Or(2, len(all))])
	if !strings.Contains(string(page), printed.String()) {
		t.Errorf("docs/scale.md does not have what 'go run ./docs/scalesim -table' prints:\n%s", printed.String())
	}
}

// A host whose memory is too small for its sessions loads them again and again; one with room does not.
func TestMemoryDecidesAboutLoads(t *testing.T) {
	m := defaults()
	m.Sessions, m.Hosts, m.Databases, m.Astray = 2000, 4, 1, 0
	m.HostSessions = 500
	if r := m.run(); r.Loads != 0 {
		t.Errorf("with room for all sessions there are %.1f loads a second", r.Loads)
	}
	m.HostSessions = 250
	if r := m.run(); r.Loads < 0.3*2000/m.TurnEvery {
		t.Errorf("with room for half of the sessions there are only %.1f loads a second", r.Loads)
	}
}
