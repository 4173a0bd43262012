package replay_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
	"github.com/thresh-dev/thresh/sdk/content"
)

// What was answered is never too large, unless the user sets a window; what was refused is.
func TestTheWindowOfARecording(t *testing.T) {
	said := func(text string) content.Content {
		return content.Content{Speaker: content.AI, Blocks: []content.Block{content.Text{Text: text}},
			Metadata: json.RawMessage(`{"model":"<synthetic>","isApiErrorMessage":true}`)}
	}
	answer := content.Content{Speaker: content.AI, Blocks: []content.Block{content.Text{Text: "Yes."}}}
	asked := content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: "Is it?"}}}
	large := content.Content{Speaker: content.Human, Blocks: []content.Block{
		content.Text{Text: strings.Repeat("word ", 310_000)}}}
	used := func(entry, tokens int, model string) transcript.Usage {
		return transcript.Usage{Entry: entry, PromptTokens: tokens, Model: model}
	}
	const opus, sonnet = "claude-opus-5", "claude-sonnet-4-5"
	refusal := said(`API Error: 400 {"type":"error","error":{"type":"invalid_request_error",` +
		`"message":"prompt is too long: 205312 tokens > 200000 maximum"}}`)
	for name, c := range map[string]struct {
		last  content.Content // answers the second request
		usage []transcript.Usage
		set   map[string]any
		want  replay.Window
		over  int // of the two requests, if nothing is done
		told  int // by the agent
	}{
		"answered, and by the host's count above what the agent said": {answer, nil, nil,
			replay.Window{Tokens: 258_400, By: pricing.ByAgent}, 0, 258_400},
		"answered within the row": {answer, []transcript.Usage{used(1, 400_000, opus), used(3, 559_279, opus)}, nil,
			replay.Window{Tokens: 1_000_000, By: pricing.ByModel, Answered: 559_279}, 0, 0},
		"set by the user": {answer, []transcript.Usage{used(1, 400_000, opus), used(3, 559_279, opus)},
			map[string]any{"model.contextLimit": 300_000}, replay.Window{Tokens: 300_000, By: replay.BySetting}, 1, 0},
		"refused": {refusal, []transcript.Usage{used(1, 199_999, opus)}, nil,
			replay.Window{Tokens: 200_000, By: pricing.ByRefusal, Answered: 199_999, Refused: 200_000}, 1, 0},
		"refused in other words": {said("Prompt is too long: 205312 tokens > 200000 maximum"),
			[]transcript.Usage{used(1, 1000, opus)}, nil,
			replay.Window{Tokens: 200_000, By: pricing.ByRefusal, Answered: 1000, Refused: 200_000}, 1, 0},
		"refused without a number": {said("Prompt is too long"), []transcript.Usage{used(1, 1000, opus)}, nil,
			replay.Window{Tokens: 1_000_000, By: pricing.ByModel, Answered: 1000}, 0, 0},
		"refused to another model": {refusal, []transcript.Usage{used(1, 1000, sonnet)}, nil,
			replay.Window{Tokens: 1_000_000, By: pricing.ByModel, Answered: 1000}, 0, 0},
		"another error": {said("API Error: 529 Overloaded"), []transcript.Usage{used(1, 1000, opus)}, nil,
			replay.Window{Tokens: 1_000_000, By: pricing.ByModel, Answered: 1000}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := window.Open(window.Options{Config: settings.Load(t, pluginDir, c.set)})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			r, err := replay.Record(t.Context(), h, &transcript.Transcript{Model: opus, Usage: c.usage, ContextLimit: c.told,
				Entries: []content.Content{asked, answer, large, c.last}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, r.Window); diff != "" {
				t.Error(diff)
			}
			over := 0
			for turn := range r.Untouched(r.Window.Tokens - 8000) {
				if turn.Overflow != "" {
					over++
				}
			}
			if over != c.over {
				t.Errorf("%d requests are over the limit, want %d", over, c.over)
			}
		})
	}
}
