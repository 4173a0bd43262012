package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/gen"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/summary"
)

func TestInfo(t *testing.T) { sdktest.CheckInfo(t, Strategy{}) }

func TestVectors(t *testing.T) {
	type outcome struct {
		Kind                                            string
		Reason                                          sdk.NoOpReason
		TopPreserved, BottomPreserved, MiddleCompressed *int
	}
	for _, line := range vectors(t, "compress_oneshot.jsonl") {
		var v struct {
			ID                                                 string
			History                                            []sdk.Content
			EstimateTokens, Summary, TranscriptPath            string
			Threshold, PreserveThreshold, TopPreserveThreshold float64
			ContextLimit, CurrentTokenCount                    int
			Expected                                           outcome
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		t.Run(v.ID, func(t *testing.T) {
			c := config(v.Summary)
			c.Counter = map[string]sdktest.Counter{"json4": json4, "leaf": leaf}[v.EstimateTokens]
			c.Threshold, c.ContextLimit, c.CurrentTokens = v.Threshold, v.ContextLimit, &v.CurrentTokenCount
			c.PreserveThreshold, c.TopPreserveThreshold = &v.PreserveThreshold, &v.TopPreserveThreshold
			c.TranscriptPath = v.TranscriptPath
			got := sdktest.Compress(t, withModel{window: 100_000}, v.History, c)
			have := outcome{"applied", got.NoOp, got.Metadata.TopPreserved, got.Metadata.BottomPreserved, got.Metadata.MiddleCompressed}
			if got.NoOp != "" {
				have.Kind = "noop"
			}
			if d := cmp.Diff(v.Expected, have); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if got.NoOp != "" {
				return
			}
			text := textOf(got.History[*have.TopPreserved])
			if !strings.HasPrefix(text, v.Summary) || !strings.HasSuffix(text, v.TranscriptPath+"\n") {
				t.Errorf("the summary is %q", text)
			}
		})
	}
}

func TestTheRange(t *testing.T) {
	tests := map[string]struct {
		history string
		bottom  float64 // share
		noop    sdk.NoOpReason
		to      int
	}{
		"nothing there":                {"", 0.4, sdk.NoOpEmptyHistory, 0},
		"the share, rounded down":      {"aaaaaaaaaaaah", 0.2, "", 10},
		"too few":                      {"aaaah", 0.4, sdk.NoOpTooFew, 0},
		"the cut moves past responses": {"hctuaaactuah", 0.3, "", 10},
		"off the end, it moves back":   {"haaaaactu", 0.2, "", 6},
		"too few, once it moved":       {"haactu", 0.2, sdk.NoOpTooFew, 0},
		"all is to be preserved":       {"hahahaha", 1, sdk.NoOpTooFew, 0},
		"all, but for what waits":      {"haaaaaac", 0, "", 7},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := config(snapshot)
			c.PreserveThreshold = &test.bottom
			got := sdktest.Compress(t, withModel{window: 100_000}, history(test.history), c)
			if got.NoOp != test.noop {
				t.Fatalf("no-op %q, want %q", got.NoOp, test.noop)
			}
			if got.NoOp == "" && *got.Metadata.MiddleCompressed != test.to {
				t.Errorf("%d entries were summarised, want %d", *got.Metadata.MiddleCompressed, test.to)
			}
		})
	}
}

func TestCompressProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		history := gen.History(gen.Options{MaxEntries: 40, Malformed: true, MediaBlocks: true}).Draw(rt, "history")
		if rapid.Bool().Draw(rt, "long") {
			history = append(gen.Session(rapid.IntRange(20, 150).Draw(rt, "entries"), rapid.Uint64Range(1, 50).Draw(rt, "seed")), history...)
		}
		s := withModel{window: rapid.IntRange(5000, 20_000).Draw(rt, "window")}
		share := rapid.SampledFrom([]float64{0, 0.05, 0.2, 0.4, 0.7, 1})
		requests := 0
		got, err := sdktest.Config{
			PreserveThreshold:    new(share.Draw(rt, "preserve")),
			TopPreserveThreshold: new(share.Draw(rt, "top")),
			Prompts:              prompt,
			Generate: func(_ context.Context, r sdk.GenerateRequest) (sdk.Generation, error) {
				requests++
				size := len(r.System)
				for _, e := range r.Entries {
					size += len(textOf(e))
				}
				if size/4+r.MaxOutputTokens > s.window {
					return sdk.Generation{}, fmt.Errorf("%d and %d tokens do not fit into %d", size/4, r.MaxOutputTokens, s.window)
				}
				return sdk.Generation{Text: snapshot}, nil
			},
		}.Compress(t.Context(), s, history)
		if err != nil {
			rt.Fatal(err)
		}
		if got.NoOp != "" {
			return
		}
		n, top, bottom := len(history), *got.Metadata.TopPreserved, *got.Metadata.BottomPreserved
		if top+bottom+*got.Metadata.MiddleCompressed != n || len(got.History) != top+2+bottom || requests == 0 || requests > 16 {
			rt.Fatalf("%d entries became %d, %d+%d preserved, %d requests", n, len(got.History), top, bottom, requests)
		}
		if got.TokensAfter >= got.TokensBefore {
			rt.Fatalf("%d tokens became %d", got.TokensBefore, got.TokensAfter)
		}
		all := ""
		for i, e := range got.History {
			all += textOf(e)
			if i < top && !e.Equal(history[i]) || i >= top+2 && !e.Equal(history[n-len(got.History)+i]) {
				rt.Fatalf("entry %d of the result is another one", i)
			}
		}
		if last := summary.LastMessage(history); last >= 0 {
			for _, b := range history[last].Blocks {
				if text, ok := b.(sdk.Text); ok && !strings.Contains(all, strings.TrimSpace(text.Text)) {
					rt.Fatalf("what was said last is gone: %q", text.Text)
				}
			}
		}
	})
}

func TestWithoutAModelItSaysWhatToConfigure(t *testing.T) {
	_, err := config().Compress(t.Context(), Strategy{}, history("hahahahahahahaha"))
	if !errors.Is(err, summary.ErrNoModel) || !strings.Contains(err.Error(), "compression.profile") {
		t.Errorf("error %v", err)
	}
}

func TestAnEmptySummaryIsAnError(t *testing.T) {
	if _, err := config("").Compress(t.Context(), withModel{window: 100_000}, history("hahahahahahahaha")); !errors.Is(err, summary.ErrEmpty) {
		t.Errorf("error %v", err)
	}
}
