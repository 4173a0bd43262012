package middleout

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/summarytest"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/sdktest"
)

func TestInfo(t *testing.T) { sdktest.CheckInfo(t, Strategy{}) }

func TestVectors(t *testing.T) { summarytest.CheckVectors(t, Strategy{}, "compress_middleout.jsonl") }

func TestPinnedEntriesStay(t *testing.T) { summarytest.CheckPinned(t, Strategy{}) }

func TestCompressProperties(t *testing.T) { summarytest.CheckProperties(t, Strategy{}) }

func TestWithoutAModelItSaysWhatToConfigure(t *testing.T) { summarytest.CheckNoModel(t, Strategy{}) }

func TestAnEmptySummaryIsAnError(t *testing.T) { summarytest.CheckEmptySummary(t, Strategy{}) }

func BenchmarkCompress(b *testing.B) { summarytest.Benchmark(b, Strategy{}) }

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
		"just enough between them":                {"aaaaaah", 0.1, 0.2, "", 1, 5},
		"too few, before they move":               {"haactuaa", 0.1, 0.5, sdk.NoOpTooFew, 0, 0},
		"they overlap":                            {"aaaaah", 0.8, 0.8, sdk.NoOpTooFew, 0, 0},
		"cuts move on past responses":             {"hctuaaactuah", 0.2, 0.3, "", 4, 10},
		"too few, once they moved":                {"hctuaahh", 0.2, 0.25, sdk.NoOpTooFew, 0, 0},
		"a short last message moves down":         {"aaaaaahaaaaa", 0.1, 0.2, "", 2, 6},
		"with the call in which it fell":          {"aaaaaaachtuaaaa", 0.1, 0.2, "", 2, 7},
		"and too few are left":                    {"aaaahaaaaaaa", 0.1, 0.2, sdk.NoOpShrunkBelowMinimum, 0, 0},
		"and none are":                            {"aahaaaaaaaaa", 0.1, 0.2, sdk.NoOpShrunkBelowMinimum, 0, 0},
		"a long one does not":                     {"aaaaaaHaaaaa", 0.1, 0.2, "", 2, 9},
		"the last message in front of the middle": {"haaaaaaaaaaa", 0.1, 0.2, "", 2, 9},
		"all, but for what waits":                 {"haaaaaac", 0.1, 0, "", 1, 7},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := summarytest.Config(100_000, sdktest.Answers(summarytest.Snapshot))
			c.PreserveThreshold, c.TopPreserveThreshold = &test.bottom, &test.top
			got := sdktest.Compress(t, Strategy{}, gen.Letters(t, test.history), c)
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

// The host is asked for the count without attachments only if these may have made the difference.
func TestWhatAShortMessageIs(t *testing.T) {
	words, picture := sdk.Text{Text: "Fix it."}, sdk.Media{MimeType: "image/png", Data: "aGk=", Encoding: "base64"}
	failing := errors.New("failing")
	tests := map[string]struct {
		blocks []sdk.Block
		tokens int
		host   counts
		short  bool
		fails  bool
	}{
		"short with its attachments":     {[]sdk.Block{words, picture}, 499, counts{err: failing}, true, false},
		"short without them":             {[]sdk.Block{words, picture}, 500, counts{of: []int{499}}, true, false},
		"long without them":              {[]sdk.Block{words, picture}, 500, counts{of: []int{500}}, false, false},
		"nothing that is said":           {[]sdk.Block{sdk.Thinking{Thought: "so"}}, 2000, counts{err: failing}, true, false},
		"the host does not count":        {[]sdk.Block{words, picture}, 2000, counts{err: failing}, false, true},
		"the host counts something else": {[]sdk.Block{words, picture}, 2000, counts{of: []int{1, 2}}, false, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := sdk.CompressInput{TokensIn: func(int, int) int { return test.tokens }}
			in.History = []sdk.Content{{Speaker: sdk.Human, Blocks: test.blocks}}
			short, err := isShort(t.Context(), test.host, in, 0)
			if short != test.short || (err != nil) != test.fails {
				t.Errorf("short: %v, error %v", short, err)
			}
		})
	}
}

// counts is a host that answers EstimateTokens as told.
type counts struct {
	sdk.Host
	of  []int
	err error
}

func (c counts) EstimateTokens(context.Context, []sdk.Content) ([]int, error) { return c.of, c.err }

func TestALongLastMessageIsMarkedQuotedAndKept(t *testing.T) {
	c := summarytest.Config(100_000, sdktest.Answers(summarytest.Snapshot))
	c.TopPreserveThreshold, c.PreserveThreshold = new(0.1), new(0.2)
	h := gen.Letters(t, "aaaaaaHaaaaa")
	got := sdktest.Compress(t, Strategy{}, h, c)
	request := summarytest.Texts(got.Requests[0].Entries)
	said := strings.TrimSpace(summarytest.Text(h[6]))
	if !strings.Contains(request, "user, most recent message\n"+said) {
		t.Error("the request does not mark it")
	}
	if text := summarytest.Text(got.History[2]); !strings.Contains(text, said) {
		t.Errorf("the summary does not have it: %s", text)
	}
	if text := summarytest.Text(got.History[3]); !strings.Contains(text, `"entry 6 of the user`) || len(text) > 400 {
		t.Errorf("the acknowledgement does not begin with it: %s", text)
	}
}
