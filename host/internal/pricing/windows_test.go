package pricing

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

// The windows that ship have a date and a source, and each row is the one that some name finds.
func TestWindowsOfModels(t *testing.T) {
	for i, w := range append(slices.Clone(windows()), windowsBase()...) {
		_, err := time.Parse("2006-01-02", w.AsOf)
		if err != nil || !strings.HasPrefix(w.Source, "https://") || w.Input < 4000 ||
			i < len(windows()) && (w.Input < 100_000 || w.Output < 1000) {
			t.Errorf("row %d: %+v", i, w)
		}
		for _, pattern := range w.Models {
			if _, err := path.Match(pattern, ""); err != nil || pattern != strings.ToLower(pattern) {
				t.Errorf("row %d: %q: %v", i, pattern, err)
			}
			name := strings.ReplaceAll(pattern, "*", "")
			if got := WindowOf(name); got.Source != w.Source || got.Input != w.Input {
				t.Errorf("%s is found in another row: %+v", name, got)
			}
		}
	}
	for model, input := range map[string]int{
		"claude-opus-4-6": 1_000_000, "claude-opus-4-8-20260528": 1_000_000, "claude-opus-5-5": 1_000_000,
		"anthropic/claude-sonnet-4.6": 1_000_000, "us.anthropic.claude-sonnet-4-6-v1": 1_000_000, "claude-sonnet-5": 1_000_000,
		"claude-opus-4-5": 200_000, "claude-sonnet-4-5-20250929": 200_000, "claude-opus-4-1": 200_000,
		"claude-haiku-4-5": 200_000, "claude-haiku-5-5": 1_000_000, "gpt-5-codex": 272_000, "gpt-5.4": 922_000,
		"gpt-5.1-chat-latest": 128_000, "gemini-2.5-pro": 1_048_576, "llama-3": 0, "": 0,
		"gpt-6-luna": 922_000, "gpt-6.1-terra": 922_000, "gpt-6": 0, "x-ai/grok-4.5": 500_000, "deepseek-v4-pro": 1_000_000,
		"kimi-k3": 1_048_576,
	} {
		if got := WindowOf(model).Input; got != input {
			t.Errorf("%s: %d, want %d", model, got, input)
		}
	}
	for model, seals := range map[string]bool{
		"claude-opus-5-5": true, "anthropic/claude-fable-5.2": true, "us.anthropic.claude-haiku-5-5-v1": true,
		"claude-mythos-5-1": true, "claude-sonnet-5-5-20260901": true, "claude-fable-5": false, "claude-opus-5": false,
		"claude-sonnet-4-6": false, "": false,
	} {
		if got := WindowOf(model).Seals; got != seals {
			t.Errorf("%s: seals %v, want %v", model, got, seals)
		}
	}
	if a, b := HoldingWindow(210_000), HoldingWindow(5_000_000); a != 272_000 || b != 5_000_000 {
		t.Errorf("windows %d, %d", a, b)
	}
}
