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
	for _, line := range vectors(t, "compress_middleout.jsonl") {
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
		history     string
		top, bottom float64 // shares
		noop        sdk.NoOpReason
		from, to    int
	}{
		"nothing there":                           {"", 0.2, 0.4, sdk.NoOpEmptyHistory, 0, 0},
		"the shares, rounded outwards":            {"aaaaaaaaaaaah", 0.1, 0.2, "", 2, 10},
		"too few between them":                    {"aaaaah", 0.2, 0.4, sdk.NoOpTooFew, 0, 0},
		"they overlap":                            {"aaaaah", 0.8, 0.8, sdk.NoOpTooFew, 0, 0},
		"cuts move on past responses":             {"hctuaaactuah", 0.2, 0.3, "", 4, 10},
		"too few, once they moved":                {"hctuaahh", 0.2, 0.25, sdk.NoOpTooFew, 0, 0},
		"a short last message moves down":         {"aaaaaahaaaaa", 0.1, 0.2, "", 2, 6},
		"with the call in which it fell":          {"aaaaaaachtuaaaa", 0.1, 0.2, "", 2, 7},
		"and too few are left":                    {"aaaahaaaaaaa", 0.1, 0.2, sdk.NoOpShrunkBelowMinimum, 0, 0},
		"a long one does not":                     {"aaaaaaHaaaaa", 0.1, 0.2, "", 2, 9},
		"the last message in front of the middle": {"haaaaaaaaaaa", 0.1, 0.2, "", 2, 9},
		"all, but for what waits":                 {"haaaaaac", 0.1, 0, "", 1, 7},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := config(snapshot)
			c.PreserveThreshold, c.TopPreserveThreshold = &test.bottom, &test.top
			got := sdktest.Compress(t, withModel{window: 100_000}, history(test.history), c)
			if got.NoOp != test.noop {
				t.Fatalf("no-op %q, want %q", got.NoOp, test.noop)
			}
			if got.NoOp != "" {
				return
			}
			from, to := *got.Metadata.TopPreserved, len(test.history)-*got.Metadata.BottomPreserved
			if from != test.from || to != test.to {
				t.Errorf("[%d, %d) was summarised, want [%d, %d)", from, to, test.from, test.to)
			}
		})
	}
}

func TestALongLastMessageIsMarkedQuotedAndKept(t *testing.T) {
	c := config(snapshot)
	c.TopPreserveThreshold, c.PreserveThreshold = new(0.1), new(0.2)
	h := history("aaaaaaHaaaaa")
	got := sdktest.Compress(t, withModel{window: 100_000}, h, c)
	request := ""
	for _, e := range got.Requests[0].Entries {
		request += textOf(e)
	}
	said := strings.TrimSpace(textOf(h[6]))
	if !strings.Contains(request, "user, most recent message\n"+said) {
		t.Error("the request does not mark it")
	}
	if text := textOf(got.History[2]); !strings.Contains(text, said) {
		t.Errorf("the summary does not have it: %s", text)
	}
	if text := textOf(got.History[3]); !strings.Contains(text, `"entry 6 of the user`) || len(text) > 400 {
		t.Errorf("the acknowledgement does not begin with it: %s", text)
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
