package topdown

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

func TestInfo(t *testing.T) { sdktest.CheckInfo(t, Strategy{}) }

// tens counts ten tokens an entry.
func tens(entries []sdk.Content) int { return 10 * len(entries) }

func TestCompress(t *testing.T) {
	tests := map[string]struct {
		history string
		target  int // tokens, of ten an entry
		current int // what the host says; 0: what it is
		noop    sdk.NoOpReason
		kept    int
		missed  bool
	}{
		"nothing there":                            {history: "", target: 60, noop: sdk.NoOpEmptyHistory},
		"under the target":                         {history: "haha", target: 60, noop: sdk.NoOpAlreadyUnderTarget},
		"at the target":                            {history: "hahaha", target: 60, noop: sdk.NoOpAlreadyUnderTarget},
		"over the target":                          {history: "hahahahaha", target: 60, kept: 5},
		"over by what the host says":               {history: "haha", target: 60, current: 61, kept: 3},
		"two stay, whatever they count":            {history: "hahaha", target: 6, kept: 2, missed: true},
		"two are all there are":                    {history: "ha", target: 6, noop: sdk.NoOpNoGain},
		"one is all there is":                      {history: "h", target: 6, noop: sdk.NoOpNoGain},
		"a cut before a response moves on":         {history: "hactuaha", target: 60, kept: 3},
		"a cut between call and responses too":     {history: "hhhctuhaha", target: 60, kept: 4},
		"off the end, it moves back":               {history: "haahctu", target: 30, kept: 3},
		"which may be more than the target":        {history: "haahactu", target: 18, kept: 3, missed: true},
		"and if all is one exchange, nothing goes": {history: "ctu", target: 18, noop: sdk.NoOpNoGain},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := sdktest.Config{Counter: tens, Threshold: 1, ContextLimit: int(math.Round(float64(test.target) / 0.6))}
			if test.current != 0 {
				c.CurrentTokens = &test.current
			}
			got := sdktest.Compress(t, Strategy{}, gen.Letters(t, test.history), c)
			if got.NoOp != test.noop {
				t.Fatalf("no-op %q, want %q", got.NoOp, test.noop)
			}
			if got.NoOp != "" {
				return
			}
			dropped := got.Metadata.Counts["entriesDropped"]
			if len(got.History) != test.kept || *got.Metadata.BottomPreserved != test.kept ||
				int(dropped) != len(test.history)-test.kept || got.Metadata.TargetMissed != test.missed {
				t.Errorf("kept %d, dropped %d, target missed %v; want %d, %v", len(got.History), dropped,
					got.Metadata.TargetMissed, test.kept, test.missed)
			}
		})
	}
}

func TestCompressProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		history := gen.History(gen.Options{Malformed: true, MediaBlocks: true}).Draw(rt, "history")
		got, err := sdktest.Config{
			Threshold:     0.5,
			ContextLimit:  rapid.IntRange(1, 3000).Draw(rt, "contextLimit"),
			CurrentTokens: new(rapid.IntRange(0, 3000).Draw(rt, "currentTokens")),
		}.Compress(t.Context(), Strategy{}, history)
		if err != nil {
			rt.Fatal(err)
		}
		if got.NoOp != "" {
			return
		}
		cut := len(history) - len(got.History)
		if cut <= 0 {
			rt.Fatalf("applied, but %d of %d entries are kept", len(got.History), len(history))
		}
		for i, e := range got.History {
			if !e.Equal(history[cut+i]) {
				rt.Fatalf("entry %d of the result is not entry %d of the input", i, cut+i)
			}
		}
		if got.History[0].Speaker == sdk.Tool {
			rt.Fatal("the result begins with a response")
		}
	})
}

func TestVectors(t *testing.T) {
	type vector struct {
		ID                string
		History           []sdk.Content
		EstimateTokens    string
		Threshold         float64
		ContextLimit      int
		CurrentTokenCount int
		Expected          struct {
			Kind   string
			Kept   int
			Reason sdk.NoOpReason
		}
	}
	for _, v := range vectors.Decode[vector](t, "compress_topdown.jsonl") {
		t.Run(v.ID, func(t *testing.T) {
			got := sdktest.Compress(t, Strategy{}, v.History, sdktest.Config{
				Counter:       vectors.Counter(t, v.EstimateTokens),
				Threshold:     v.Threshold,
				ContextLimit:  v.ContextLimit,
				CurrentTokens: &v.CurrentTokenCount,
			})
			if got.NoOp != v.Expected.Reason || len(got.History) != v.Expected.Kept {
				t.Errorf("no-op %q, kept %d; want %+v", got.NoOp, len(got.History), v.Expected)
			}
		})
	}
}
