// Package fittest opens hosts for the tests of adapters. Their TestMain begins with host.ReexecMain.
package fittest

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Limit is the context limit of a host.
const Limit = 8000

// Open opens a host with a strategy, for the test.
func Open(t *testing.T, strategy string) *host.Host {
	t.Helper()
	c, err := config.Load(config.Options{ConfigFile: os.DevNull, Env: []string{}, Overrides: []config.Override{
		{Key: "compression.strategy", Value: strategy}, {Key: "model.contextLimit", Value: Limit},
	}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.Open(host.Options{Config: c, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// Tokens counts a text.
func Tokens(t *testing.T, h *host.Host, text string) int {
	t.Helper()
	entry := content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: text}}}
	counted, err := h.Count(t.Context(), api.CountRequest{Entries: []content.Content{entry}})
	if err != nil {
		t.Fatal(err)
	}
	return counted.Tokens
}

// File is what a tool reads.
func File(path string) string {
	return fmt.Sprintf("package %s\n%s", path, strings.Repeat("// a line of the file "+path+"\n", 60))
}
