package htmlreport_test

import (
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/compare/htmlreport"
	"github.com/thresh-dev/thresh/host/internal/lab/probe"
)

// probed is a probe of two variants at two moments of a session whose name is no good to HTML.
func probed() *probe.Report {
	const session = `<script>alert("s")</script>.jsonl`
	score := probe.Score{Mean: 0.996, Interval: &[2]float64{0.9, 1}, Questions: 12}
	r := &probe.Report{Prompts: 1, Sessions: 1, Moments: 2, Questions: 24, Agreed: 40, Graded: 48, Clusters: "moments"}
	for i, name := range []string{compare.NothingName, `cut & <b>run</b>`} {
		row := probe.Row{Variant: name, Score: score, After: score, Left: 10_000,
			Relative: -0.25 * float64(i), Kinds: map[string]probe.Score{}}
		for _, kind := range probe.Kinds {
			row.Kinds[kind] = score
		}
		r.Variants = append(r.Variants, row)
		for turn, moment := range map[int]string{7: "a", 9: "b"} {
			r.ByMoment = append(r.ByMoment, probe.Part{Session: session, Turn: turn, Moment: moment, Spread: turn == 7,
				Variant: name, Tokens: 1000 / (1 + i), Score: 0.5, Questions: 12})
		}
	}
	r.Differences = []probe.Difference{{Variant: "a", Than: "b", Score: score}}
	return r
}

func writeProbe(t *testing.T, r *probe.Report) string {
	t.Helper()
	var b strings.Builder
	if err := htmlreport.WriteProbe(&b, r, htmlreport.Options{Made: time.Unix(1, 0), Version: "v"}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestThePageOfAProbe(t *testing.T) {
	t.Parallel()
	page := writeProbe(t, probed())
	if strings.Contains(page, "<script") || strings.Contains(page, "<b>run") {
		t.Error("what sessions and variants are called is not escaped")
	}
	text := parse(t, page).text()
	for _, want := range []string{"24 questions at 2 moments of 1 recorded session.", "Difference on the same questions",
		"0.99 (0.90\u2060…\u20601.00)",
		"cut & <b>run</b>: score 0.99 (0.90\u2060…\u20601.00) with 10,000 tokens left, cost −25.0\u00a0%",
		`turn 7 of <script>alert("s")</script>.jsonl: score 0.50 with 50.0` + "\u00a0% left"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// One mark for each moment of the one variant that removed something, hollow after a rewrite, and one in the legend.
	if all, hollow := strings.Count(page, `class="dot`), strings.Count(page, `class="dot s1 after"`); all != 3 || hollow != 1 {
		t.Errorf("%d marks, %d of them hollow", all, hollow)
	}
	if strings.Contains(text, "Incomplete") {
		t.Error("nothing is missing")
	}
	r := probed()
	r.Open = 3
	if text := parse(t, writeProbe(t, r)).text(); !strings.Contains(text, "3 questions lack an answer or a grade") {
		t.Error("the page does not say what is missing")
	}
	if text := parse(t, writeProbe(t, &probe.Report{})).text(); !strings.Contains(text, "No question can be scored") {
		t.Error("a probe without questions has no page")
	}
}
