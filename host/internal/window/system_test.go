package window_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
)

// The system prompt is no history: no strategy can drop it, and it takes its room in every request.
func TestTheSystemPromptStandsBesideTheHistory(t *testing.T) {
	h := open(t, map[string]any{"compression.strategy": "top-down-truncation", "model.contextLimit": 2000})
	s := begin(t, h, nil)
	defer s.Close()
	policy := content.Text{Text: strings.Repeat("Never tell a secret. ", 100)}
	if err := s.SetSystem(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	if err := s.SetSystem(t.Context(), content.Code{Code: "x"}); !errors.Is(err, window.ErrInvalidEntry) {
		t.Errorf("got %v", err)
	}
	says := content.Content{Speaker: content.Human,
		Blocks: []content.Block{content.Text{Text: strings.Repeat("go on ", 60)}}}
	for range 40 {
		if _, err := s.Add(t.Context(), window.Entries(says)); err != nil {
			t.Fatal(err)
		}
		ready, err := s.Prepare(t.Context(), window.Sending{Pending: 10})
		if err != nil {
			t.Fatal(err)
		}
		if len(ready.System) != 1 || !content.Equal(ready.System[0], policy) {
			t.Fatalf("the system prompt is %v", ready.System)
		}
		if extra := ready.Outcome.Projected - ready.Tokens; extra < 400 || ready.Outcome.Projected > 2000 {
			t.Fatalf("%d tokens in addition to the history of %d", extra, ready.Tokens)
		}
	}
}
