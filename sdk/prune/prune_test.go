package prune

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/internal/testkit/vectors"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/sdktest"
	"github.com/thresh-dev/thresh/sdk/turns"
)

func densities() *rapid.Generator[sdk.DensityConfig] {
	return rapid.Custom(func(t *rapid.T) sdk.DensityConfig {
		return sdk.DensityConfig{
			ReadWritePruning: rapid.Bool().Draw(t, "readWritePruning"),
			FileDedupe:       rapid.Bool().Draw(t, "fileDedupe"),
			RecencyPruning:   rapid.Bool().Draw(t, "recencyPruning"),
			RecencyRetention: rapid.IntRange(-1, 4).Draw(t, "recencyRetention"),
			PartialWrites: rapid.SampledFrom([]sdk.PartialWrites{"", sdk.PartialWritesPrune,
				sdk.PartialWritesKeep}).Draw(t,
				"partialWrites"),
		}
	})
}

// What sdktest.Config.Optimize checks of every result is not repeated here: positions in bounds, ascending and in one
// set only, speakers and metadata unchanged, no human entry removed, no pair parted, input untouched, the same answer
// twice, nothing left to do on the result.
func TestOptimizeProperties(t *testing.T) {
	stripped := regexp.MustCompile(`\[Earlier inclusion of [^\n]+ removed — included again later\]`)
	seeds := vectors.Tools(t)
	rapid.Check(t, func(rt *rapid.T) {
		history, density := histories().Draw(rt, "history"), densities().Draw(rt, "density")
		got, err := sdktest.Config{Tools: seeds, WorkspaceRoot: "/w", Density: &density}.Optimize(t.Context(),
			strategy{},
			history)
		if err != nil {
			rt.Fatal(err)
		}
		m := got.Metadata
		if pairs := answered(history) - answered(got.History); pairs != m.ReadWritePairsPruned {
			rt.Fatalf("%d pairs went, but readWritePairsPruned is %d", pairs, m.ReadWritePairsPruned)
		}
		if density == (sdk.DensityConfig{RecencyRetention: density.RecencyRetention,
			PartialWrites: density.PartialWrites}) && len(got.Removals)+len(got.Replacements) > 0 {
			rt.Fatal("everything is off, but something was pruned")
		}
		if len(got.Reasons) != len(got.Removals)+len(got.Replacements) {
			rt.Fatalf("%d entries are edited, with reasons for %d", len(got.Removals)+len(got.Replacements),
				len(got.Reasons))
		}
		if !density.ReadWritePruning && m.ReadWritePairsPruned > 0 || !density.FileDedupe && m.FileDeduplicationsPruned > 0 ||
			!density.RecencyPruning && m.RecencyPruned > 0 {
			rt.Fatalf("a rule that is off pruned: %+v of %+v", m, density)
		}
		inclusions, pointers := 0, 0
		for i, entry := range got.Replacements {
			was := history[i]
			switch entry.Speaker {
			case sdk.Human:
				for j, b := range entry.Blocks {
					if content.Equal(b, was.Blocks[j]) {
						continue
					}
					before, after := was.Blocks[j].(sdk.Text).Text, b.(sdk.Text).Text
					lines := stripped.FindAllString(after, -1)
					inclusions += len(lines)
					if !onlyCutOut(before, after, lines) {
						rt.Fatalf("entry %d, block %d: more than inclusions changed: %q", i, j, entry.Blocks[j])
					}
				}
			case sdk.Tool:
				pointers += countPointers(entry) - countPointers(was)
			}
		}
		if inclusions != m.FileDeduplicationsPruned || pointers != m.RecencyPruned {
			rt.Fatalf("%d inclusions and %d results were pruned, but the metadata says %+v", inclusions, pointers, m)
		}
	})
}

func answered(history []sdk.Content) int {
	n := 0
	for range turns.Pair(history).Answered() {
		n++
	}
	return n
}

// onlyCutOut reports whether what stands between the lines in after stands in before, in that order.
func onlyCutOut(before, after string, lines []string) bool {
	for _, line := range lines {
		kept, rest, _ := strings.Cut(after, line)
		at := strings.Index(before, kept)
		if at < 0 {
			return false
		}
		before, after = before[at+len(kept):], rest
	}
	return strings.HasSuffix(before, after)
}

func countPointers(entry sdk.Content) int {
	n := 0
	for _, b := range entry.Blocks {
		if r, ok := b.(sdk.ToolResponse); ok && IsPointer(r) {
			n++
		}
	}
	return n
}

func TestFindInclusions(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"one": {"x\n--- a ---\n1\n--- End of content ---\ny",
			[]string{"--- a ---\n1\n--- End of content ---"}},
		"at both ends": {"--- a ---\n--- End of content ---",
			[]string{"--- a ---\n--- End of content ---"}},
		"Windows line ends": {"--- a ---\r\n1\r\n--- End of content ---\r\nq",
			[]string{"--- a ---\r\n1\r\n--- End of content ---"}},
		"spaces in and around the path": {"---  a b  ---\n--- End of content ---\n",
			[]string{"---  a b  ---\n--- End of content ---"}},
		"two": {"--- a ---\n--- End of content ---\n--- b ---\n--- End of content ---",
			[]string{"--- a ---\n--- End of content ---", "--- b ---\n--- End of content ---"}},
		"never closed":                    {"--- a ---\n1\n", nil},
		"never opened":                    {"1\n--- End of content ---\n", nil},
		"one opened twice":                {"--- a ---\n--- b ---\n--- End of content ---\n", nil},
		"one closed twice":                {"--- a ---\n--- End of content ---\n--- End of content ---\n", nil},
		"a second one never closed":       {"--- a ---\n--- End of content ---\n--- b ---\n", nil},
		"the close line inside of a line": {"--- a ---\nsee --- End of content --- there\n", nil},
		"an open line with more on it":    {"> --- a ---\n--- End of content ---\n", nil},
		"an open line without a path":     {"---   ---\n--- End of content ---\n", nil},
		"one without a path in a file": {"--- a ---\n---   ---\n--- End of content ---\n",
			[]string{"--- a ---\n---   ---\n--- End of content ---"}},
		"a rule is no open line": {"-----\n--- ---\n--- a ---\n--- End of content ---\n",
			[]string{"--- a ---\n--- End of content ---"}},
		"other line separators": {"--- a ---\u2028--- End of content ---\u2028", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, inc := range findInclusions([]sdk.Block{sdk.Text{Text: test.text}}) {
				got = append(got, test.text[inc.start:inc.end])
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
