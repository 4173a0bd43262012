package highdensity

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/summary"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// fataler is what testing.T and rapid.T have in common here.
type fataler interface{ Fatalf(string, ...any) }

// checkCompression compresses a history and checks what must hold for every history. What sdktest checks of every
// result is not repeated: order, speakers and metadata of kept entries, no pair parted, input untouched.
func checkCompression(t *testing.T, f fataler, history []sdk.Content, c sdktest.Config) {
	t.Helper()
	got, err := c.Compress(t.Context(), Strategy{}, history)
	if err != nil {
		f.Fatalf("%v", err)
	}
	if got.NoOp != "" {
		return
	}
	if got.TokensAfter > got.TokensBefore {
		f.Fatalf("%d tokens became %d", got.TokensBefore, got.TokensAfter)
	}
	tail := tailStart(history, *c.PreserveThreshold)
	kept := map[int]sdk.Content{}
	for _, e := range got.History {
		from, ok := e.Origin()
		if !ok {
			f.Fatalf("an entry is new: %v", e)
		}
		kept[from] = e
	}
	for i, was := range history {
		is, ok := kept[i]
		switch {
		case !ok && (i >= tail || was.Speaker == sdk.Human || !was.Speaker.Known()):
			f.Fatalf("entry %d of %q is gone; the tail begins at %d", i, was.Speaker, tail)
		case ok && (i >= tail || was.Speaker != sdk.Tool) && !is.Equal(was):
			f.Fatalf("entry %d of %q was changed; the tail begins at %d", i, was.Speaker, tail)
		case ok && i < tail && was.Speaker == sdk.Tool:
			checkShortened(f, was, is)
		}
	}
	target := int(c.Threshold * float64(c.ContextLimit) * 0.6)
	if got.TokensAfter > target && !got.Metadata.TargetMissed {
		f.Fatalf("%d tokens are over the target of %d, but the metadata does not say so", got.TokensAfter, target)
	}
	if got.Metadata.TargetMissed {
		for _, x := range turns.Exchanges(history, nil) {
			_, stays := kept[x.First()]
			if s := history[x.First()].Speaker; stays && x.Last() < tail && (s == sdk.AI || s == sdk.Tool) {
				f.Fatalf("the target was missed, but the exchange %v is still there", x.Entries)
			}
		}
	}
	checkSecondPass(t, f, got, c)
}

// checkShortened allows no change but a line in the place of a result, and none that is longer.
func checkShortened(f fataler, was, is sdk.Content) {
	for j, b := range is.Blocks {
		r, ok := was.Blocks[j].(sdk.ToolResponse)
		if !ok {
			continue
		}
		line := b.(sdk.ToolResponse)
		if len(line.Result) > len(r.Result) {
			f.Fatalf("%s became longer: %s", r.Result, line.Result)
		}
		if string(line.Result) != string(r.Result) && !summary.IsLine(r.ToolName, line.ResultText()) {
			f.Fatalf("%s became %s, which a second pass would not know", r.Result, line.Result)
		}
		if line.Result = r.Result; !content.Equal(line, r) {
			f.Fatalf("more than the result changed: %v became %v", r, line)
		}
	}
}

// checkSecondPass: a second pass finds nothing to do. Only where the first dropped entries, so the same share of
// what is left makes a smaller tail, it may work on what the tail no longer covers; what the first pass made stays
// even then.
func checkSecondPass(t *testing.T, f fataler, first sdktest.Compressed, c sdktest.Config) {
	t.Helper()
	again, err := c.Compress(t.Context(), Strategy{}, first.History)
	if err != nil {
		f.Fatalf("second pass: %v", err)
	}
	if first.Metadata.Counts["entriesDropped"] == 0 && again.NoOp != sdk.NoOpNoGain {
		f.Fatalf("a second pass changes something: %+v", again.Metadata)
	}
	made := lines(first.History)
	left := lines(again.History)
	if again.NoOp == "" && again.Metadata.Counts["entriesDropped"] == 0 &&
		!slices.Equal(made, left[:min(len(made), len(left))]) {
		f.Fatalf("a second pass changed the lines of the first (-first +second):\n%s", cmp.Diff(made, left))
	}
}

// lines returns the results in a history that are lines.
func lines(history []sdk.Content) []string {
	var out []string
	for _, e := range history {
		for _, b := range e.Blocks {
			if r, ok := b.(sdk.ToolResponse); ok && summary.IsLine(r.ToolName, r.ResultText()) {
				out = append(out, r.ResultText())
			}
		}
	}
	return out
}

func TestCompressProperties(t *testing.T) {
	seeds := vectors.Tools(t)
	rapid.Check(t, func(rt *rapid.T) {
		checkCompression(t, rt, histories().Draw(rt, "history"), sdktest.Config{
			Tools: seeds,
			Counter: rapid.SampledFrom([]sdktest.Counter{vectors.Leaf, vectors.JSON4, sdktest.Words,
				sdktest.Characters}).Draw(rt, "counter"),
			Threshold:         0.5,
			ContextLimit:      rapid.IntRange(1, 4000).Draw(rt, "contextLimit"),
			PreserveThreshold: new(rapid.Float64Range(0, 1).Draw(rt, "preserveThreshold")),
		})
	})
}

func TestCompressVectors(t *testing.T) {
	for _, v := range vectors.Decode[compressVector](t, "compress_highdensity.jsonl") {
		t.Run(v.ID, func(t *testing.T) {
			checkCompression(t, t, v.History, v.config(t))
			got := sdktest.Compress(t, Strategy{}, v.History, v.config(t))
			for _, problem := range turns.Check(got.History) {
				if v.Clean {
					t.Error(problem)
				}
			}
		})
	}
}

func TestCompressSteps(t *testing.T) {
	long := strings.Repeat("word ", 100)
	history := []sdk.Content{
		said(sdk.Human, "question"),                    // 0, 2 words
		call("1", "read_file", `{"file_path":"a.go"}`), // 1, 3 words
		answer("1", "read_file", long),                 // 2, 102 words, as a line 7
		said(sdk.AI, "the answer is long"),             // 3, 5 words
		call("2", "read_file", `{"file_path":"b.go"}`), // 4, 3 words
		answer("2", "read_file", long),                 // 5, 102 words, as a line 7
		said(sdk.AI, "done"),                           // 6, 2 words
	}
	tests := map[string]struct {
		history  []sdk.Content
		preserve float64
		target   int
		noop     sdk.NoOpReason
		kept     []int
		counts   map[string]int64
		missed   bool
	}{
		"nothing there":          {history: nil, target: 1000, noop: sdk.NoOpEmptyHistory},
		"the tail is everything": {history: history, preserve: 1, target: 1, noop: sdk.NoOpTailCoversAll},
		"a single entry":         {history: history[:1], target: 1, noop: sdk.NoOpTailCoversAll},
		"nothing to shorten":     {history: history[3:5], target: 1000, noop: sdk.NoOpNoGain},
		"what no tool said": {history: []sdk.Content{history[1], {Speaker: sdk.AI, Blocks: history[2].Blocks}, history[6]},
			target: 1000, noop: sdk.NoOpNoGain},
		"lines are enough": {history: history, target: 29, kept: []int{0, 1, 2, 3, 4, 5, 6},
			counts: map[string]int64{"resultsSummarized": 2, "exchangesDropped": 0, "textsDropped": 0,
				"entriesDropped": 0}},
		"then the oldest exchange goes": {history: history, target: 19, kept: []int{0, 3, 4, 5, 6},
			counts: map[string]int64{"resultsSummarized": 2, "exchangesDropped": 1, "textsDropped": 0,
				"entriesDropped": 2}},
		"then the next": {history: history, target: 9, kept: []int{0, 3, 6},
			counts: map[string]int64{"resultsSummarized": 2, "exchangesDropped": 2, "textsDropped": 0,
				"entriesDropped": 4}},
		"then what the AI said": {history: history, target: 5, kept: []int{0, 6},
			counts: map[string]int64{"resultsSummarized": 2, "exchangesDropped": 2, "textsDropped": 1,
				"entriesDropped": 5}},
		"but never a human or the tail": {history: history, target: 3, kept: []int{0, 6}, missed: true,
			counts: map[string]int64{"resultsSummarized": 2, "exchangesDropped": 2, "textsDropped": 1,
				"entriesDropped": 5}},
		"an unanswered call is an exchange": {history: []sdk.Content{history[3], call("9", "ls", `{}`), history[6]},
			target: 7, kept: []int{0, 2},
			counts: map[string]int64{"resultsSummarized": 0, "exchangesDropped": 1, "textsDropped": 0,
				"entriesDropped": 1}},
		"the results of one entry": {history: []sdk.Content{both(history[1], call("2", "read_file", `{"file_path":"b.go"}`)),
			both(history[2], history[5]), history[6]}, target: 1000, kept: []int{0, 1, 2},
			counts: map[string]int64{"resultsSummarized": 2, "exchangesDropped": 0, "textsDropped": 0,
				"entriesDropped": 0}},
		"the oldest that the AI said": {history: []sdk.Content{history[3], history[0], history[3], history[6]},
			target: 9, kept: []int{1, 2, 3},
			counts: map[string]int64{"resultsSummarized": 0, "exchangesDropped": 0, "textsDropped": 1,
				"entriesDropped": 1}},
		"a tail does not begin with a response": {history: history, preserve: 2.0 / 7, target: 1,
			kept:   []int{0, 4, 5, 6},
			missed: true,
			counts: map[string]int64{"resultsSummarized": 1, "exchangesDropped": 1, "textsDropped": 1,
				"entriesDropped": 3}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := sdktest.Compress(t, Strategy{}, test.history, sdktest.Config{
				Counter: sdktest.Words, PreserveThreshold: &test.preserve,
				Threshold: 1, ContextLimit: int(float64(test.target)/0.6) + 1,
			})
			if got.NoOp != test.noop {
				t.Fatalf("no-op %q, want %q", got.NoOp, test.noop)
			}
			if got.NoOp != "" {
				return
			}
			var kept []int
			for _, e := range got.History {
				from, _ := e.Origin()
				kept = append(kept, from)
			}
			if d := cmp.Diff(test.kept, kept); d != "" {
				t.Errorf("kept entries (-want +got):\n%s", d)
			}
			if d := cmp.Diff(test.counts, got.Metadata.Counts); d != "" {
				t.Errorf("counts (-want +got):\n%s", d)
			}
			if tail := len(test.history) - tailStart(test.history, test.preserve); *got.Metadata.BottomPreserved != tail {
				t.Errorf("a tail of %d entries, want %d", *got.Metadata.BottomPreserved, tail)
			}
			if got.Metadata.TargetMissed != test.missed {
				t.Errorf("target missed: %v, want %v", got.Metadata.TargetMissed, test.missed)
			}
		})
	}
}

// both is an entry with the blocks of two.
func both(a, b sdk.Content) sdk.Content {
	a.Blocks = slices.Concat(a.Blocks, b.Blocks)
	return a
}

func TestTailStart(t *testing.T) {
	history := func(speakers string) []sdk.Content {
		var out []sdk.Content
		for _, s := range speakers {
			out = append(out, said(map[rune]sdk.Speaker{'h': sdk.Human, 'a': sdk.AI, 't': sdk.Tool}[s], "x"))
		}
		return out
	}
	tests := map[string]struct {
		speakers string
		share    float64
		want     int
	}{
		"a share is rounded up":     {"hahahahaha", 0.31, 6},
		"no more than it must":      {"hahahahaha", 0.3, 7},
		"at least one":              {"haha", 0, 3},
		"all":                       {"haha", 1, 0},
		"more than all":             {"haha", 1.5, 0},
		"back over tools' entries":  {"hahattat", 0.3, 3},
		"which may lead to nothing": {"tttt", 0.3, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tailStart(history(test.speakers), test.share); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

// A line that the tokenizer finds longer than the result is not used.
func TestCompressBelievesTheTokenizer(t *testing.T) {
	in := sdk.CompressInput{TokensIn: func(from, to int) int { return 10 * (to - from) }}
	in.Threshold, in.ContextLimit = 1, 1000
	in.History = []sdk.Content{answer("1", "t", strings.Repeat("x\n", 100)), said(sdk.Human, "q")}
	for count, want := range map[int]sdk.NoOpReason{9: "", 10: sdk.NoOpNoGain, 11: sdk.NoOpNoGain} {
		got, err := Strategy{}.Compress(t.Context(), countingHost{counts: []int{count}}, in)
		if err != nil || got.NoOp != want {
			t.Errorf("the line counts %d: no-op %q, error %v; want %q", count, got.NoOp, err, want)
		}
	}
	// Where something else is gained, the longer line still must not be there. One that counts the same is shorter to read.
	in.History = []sdk.Content{in.History[0], answer("2", "t", strings.Repeat("x\n", 100)), in.History[1]}
	for count, stays := range map[int]bool{11: true, 10: false} {
		got, err := Strategy{}.Compress(t.Context(), countingHost{counts: []int{count, 5}}, in)
		if err != nil || len(got.History) != 3 || got.History[0].Equal(in.History[0]) != stays ||
			got.History[1].Equal(in.History[1]) {
			t.Errorf("the line counts %d: error %v, history %v", count, err, got.History)
		}
	}
}

// A call that is answered within the tail stays with its response, even if everything around it goes.
func TestCompressKeepsWhatReachesIntoTheTail(t *testing.T) {
	long := strings.Repeat("word ", 100)
	history := []sdk.Content{
		call("slow", "run_shell_command", `{"command":"make"}`),
		call("1", "read_file", `{"file_path":"a.go"}`),
		answer("1", "read_file", long),
		said(sdk.Human, "still there?"),
		answer("slow", "run_shell_command", "built"),
	}
	got := sdktest.Compress(t, Strategy{}, history,
		sdktest.Config{Threshold: 0.1, ContextLimit: 10, PreserveThreshold: new(0.4)})
	want := []sdk.Content{history[0], history[3], history[4]}
	if d := cmp.Diff(want, got.History, cmp.Comparer(sdk.Content.Equal)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// countingHost answers EstimateTokens as told.
type countingHost struct {
	sdk.Host
	counts []int
	err    error
}

func (h countingHost) EstimateTokens(_ context.Context, _ []sdk.Content) ([]int, error) {
	return h.counts, h.err
}

func TestCompressHostFails(t *testing.T) {
	broken := errors.New("broken")
	in := sdk.CompressInput{TokensIn: func(from, to int) int { return 100 * (to - from) }}
	in.Threshold, in.ContextLimit = 1, 1
	in.History = []sdk.Content{answer("1", "t", strings.Repeat("x\n", 100)), said(sdk.Human, "q")}
	for name, host := range map[string]countingHost{
		"an error":            {err: broken},
		"too few counts":      {counts: []int{}},
		"more counts than it": {counts: []int{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Strategy{}.Compress(t.Context(), host, in)
			if err == nil || host.err != nil && !errors.Is(err, broken) {
				t.Errorf("error %v", err)
			}
		})
	}
}
