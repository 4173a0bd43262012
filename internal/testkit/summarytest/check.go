package summarytest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/summary"
)

// CheckVectors runs every case of a file of test vectors. In each case the strategy must return a no-op with the
// expected reason, or preserve and summarise the expected numbers of entries. The summary must begin with the model's
// text and end with the path of the transcript, by which the agent can find what was summarised.
func CheckVectors(t *testing.T, s sdk.Strategy, file string) {
	// The fields are nil where a no-op leaves them out.
	type outcome struct {
		Kind                                            string
		Reason                                          sdk.NoOpReason
		TopPreserved, BottomPreserved, MiddleCompressed *int
	}
	type vector struct {
		ID                                                 string
		History                                            []sdk.Content
		EstimateTokens, Summary, TranscriptPath            string
		Threshold, PreserveThreshold, TopPreserveThreshold float64
		ContextLimit, CurrentTokenCount                    int
		Expected                                           outcome
	}
	for _, v := range vectors.Decode[vector](t, file) {
		t.Run(v.ID, func(t *testing.T) {
			c := Config(100_000, sdktest.Answers(v.Summary))
			// The vectors name their way of counting, so that they hold for implementations in other languages too.
			c.Counter = vectors.Counter(t, v.EstimateTokens)
			c.Threshold, c.ContextLimit, c.CurrentTokens = v.Threshold, v.ContextLimit, &v.CurrentTokenCount
			c.PreserveThreshold, c.TopPreserveThreshold = &v.PreserveThreshold, &v.TopPreserveThreshold
			c.TranscriptPath = v.TranscriptPath
			got := sdktest.Compress(t, s, v.History, c)
			have := outcome{"applied", got.NoOp, got.Metadata.TopPreserved, got.Metadata.BottomPreserved,
				got.Metadata.MiddleCompressed}
			if got.NoOp != "" {
				have.Kind = "noop"
			}
			if d := cmp.Diff(v.Expected, have); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if got.NoOp != "" {
				return
			}
			text := Text(got.History[*have.TopPreserved])
			if !strings.HasPrefix(text, v.Summary) || !strings.HasSuffix(text, v.TranscriptPath) {
				t.Errorf("the summary is %q", text)
			}
		})
	}
}

// CheckProperties checks what must hold for every history and every context window:
//
//   - Each request fits the window, and there are at most 16, which bounds the cost of one Compress.
//   - The result counts fewer tokens than the input.
//   - Entries outside the summarised range are unchanged, and the counts in the metadata add up.
//   - The last message of a person is preserved word for word: it is what the agent is working on.
func CheckProperties(t *testing.T, s sdk.Strategy) {
	rapid.Check(t, func(rt *rapid.T) {
		history := Histories(gen.Options{MaxEntries: 40, Malformed: true, MediaBlocks: true}).Draw(rt, "history")
		m := &Limited{Window: rapid.IntRange(5000, 20_000).Draw(rt, "window")}
		// The bounds 0 and 1 and what lies between: nothing preserved, all preserved.
		share := rapid.SampledFrom([]float64{0, 0.05, 0.2, 0.4, 0.7, 1})
		c := Config(m.Window, m.Generate)
		c.PreserveThreshold = new(share.Draw(rt, "preserve"))
		c.TopPreserveThreshold = new(share.Draw(rt, "top"))
		got, err := c.Compress(t.Context(), s, history)
		if err != nil {
			rt.Fatal(err)
		}
		// Histories that are too short to be summarised are drawn as well.
		if got.NoOp != "" {
			return
		}
		n, top, bottom := len(history), *got.Metadata.TopPreserved, *got.Metadata.BottomPreserved
		if top+bottom+*got.Metadata.MiddleCompressed != n || m.Calls() == 0 || m.Calls() > 16 {
			rt.Fatalf("%d entries became %d, %d+%d preserved, %d requests", n, len(got.History), top, bottom, m.Calls())
		}
		CheckReplaced(rt, history, got, top, n-bottom)
	})
}

// Histories generates histories that are worth summarising: short ones with all kinds of entries, half of them
// preceded by a long session.
func Histories(o gen.Options) *rapid.Generator[[]sdk.Content] {
	return rapid.Custom(func(t *rapid.T) []sdk.Content {
		history := gen.History(o).Draw(t, "short")
		if rapid.Bool().Draw(t, "long") {
			history = append(gen.Session(rapid.IntRange(20, 150).Draw(t, "entries"),
				rapid.Uint64Range(1, 50).Draw(t, "seed")),
				history...)
		}
		return history
	})
}

// CheckReplaced checks that two entries replaced history[from:to] and nothing else changed, that the result counts
// less, and that the last message of a person is in it word for word. Two, since a summary is an entry of a person
// followed by one of the model, which keeps roles alternating.
func CheckReplaced(t *rapid.T, history []sdk.Content, got sdktest.Compressed, from, to int) {
	if got.TokensAfter >= got.TokensBefore {
		t.Fatalf("%d tokens became %d", got.TokensBefore, got.TokensAfter)
	}
	// How many entries fewer the result has.
	gone := to - from - 2
	if len(got.History) != len(history)-gone {
		t.Fatalf("%d entries became %d, of which [%d, %d) was summarised", len(history), len(got.History), from, to)
	}
	for i, e := range got.History {
		if i < from && !e.Equal(history[i]) || i >= from+2 && !e.Equal(history[i+gone]) {
			t.Fatalf("entry %d of the result is another one", i)
		}
	}
	last := summary.LastMessage(history)
	if last < 0 {
		return
	}
	said := Texts(got.History)
	for _, b := range history[last].Blocks {
		if text, ok := b.(sdk.Text); ok && !strings.Contains(said, strings.TrimSpace(text.Text)) {
			t.Fatalf("what was said last is gone: %q", text.Text)
		}
	}
}

// CheckNoModel checks that a strategy without a model returns an error that names the setting to configure.
func CheckNoModel(t *testing.T, s sdk.Strategy) {
	t.Helper()
	in := sdk.CompressInput{Call: sdk.Call{History: gen.Letters(t, "hahahahahahahaha")}}
	in.PreserveThreshold, in.TopPreserveThreshold = 0.4, 0.2
	_, err := s.Compress(t.Context(), Instant{}, in)
	if !errors.Is(err, summary.ErrNoModel) || !strings.Contains(err.Error(), "compression.profile") {
		t.Errorf("error %v", err)
	}
}

// CheckEmptySummary checks that an empty answer of the model is an error.
func CheckEmptySummary(t *testing.T, s sdk.Strategy) {
	t.Helper()
	c := Config(100_000, sdktest.Answers(""))
	if _, err := c.Compress(t.Context(), s, gen.Letters(t, "hahahahahahahaha")); !errors.Is(err, summary.ErrEmpty) {
		t.Errorf("error %v", err)
	}
}
