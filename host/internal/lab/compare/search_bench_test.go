package compare_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/tools"
)

var sessionDirs = flag.String("sessions", "", "directories with recorded sessions, by commas, for BenchmarkFirstSearch")

// searchedFor adds up what searches brought.
type searchedFor struct {
	cases, calls, first, some, all, tokens int
	// Of those whose first answer lacked something: it stands in the block of a passage that was shown; in the result of
	// a call that was; of passages that were shown, two are much the same; none of these.
	cut, pair, copies, elsewhere int
	took                         []time.Duration
}

// BenchmarkFirstSearch replays recorded sessions with strategies, and searches in each turn for what a call lacks: with
// the path and four names of an edit, with the words of a command, with the other words of a line for a name on it; and
// with the same as people say it. A second call is one with an id of the first answer; what that does not bring either
// counts as three.
func BenchmarkFirstSearch(b *testing.B) {
	dirs := strings.Split(*sessionDirs, ",")
	if *sessionDirs == "" {
		dirs = []string{repo.Shared(b, "sessions", "native"), repo.Shared(b, "sessions-2026")}
	}
	var sessions []compare.Session
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) == ".md" {
				return err
			}
			t, err := transcript.ReadFile(file, transcript.Options{})
			if errors.Is(err, transcript.ErrUnsupportedFormat) {
				return nil
			}
			sessions = append(sessions, compare.Session{Name: filepath.Base(file), Transcript: t})
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	taxonomy, err := tools.ForPresets(tools.PresetNames(), nil)
	if err != nil {
		b.Fatal(err)
	}
	counter, err := tokens.For("", "")
	if err != nil {
		b.Fatal(err)
	}
	h := open(b, map[string]any{"model.contextLimit": 60_000})
	var sums map[string]*searchedFor
	for b.Loop() {
		sums = map[string]*searchedFor{}
		o := compare.Options{Sessions: sessions, Parallel: 1, Variants: []compare.Variant{
			{Strategy: "distill"}, {Strategy: "high-density"}, {Strategy: "top-down-truncation"}}}
		o.Asking(func(q compare.Question) error {
			if sums[q.Kind] == nil {
				sums[q.Kind] = &searchedFor{}
			}
			return sums[q.Kind].search(b.Context(), q, taxonomy, counter)
		})
		if _, err := compare.Run(b.Context(), h, o); err != nil {
			b.Fatal(err)
		}
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tSEARCHED\tCALLS\tFIRST %\tSOME %\tALL %\tTOKENS\tMS\tCUT\tPAIR\tCOPIES\tELSEWHERE\t")
	total := &searchedFor{}
	for _, kind := range slices.Sorted(maps.Keys(sums)) {
		sums[kind].print(w, kind)
		total.add(sums[kind])
	}
	total.print(w, "all")
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	b.Log("\n" + out.String())
	b.ReportMetric(float64(total.calls)/float64(total.cases), "calls/question")
	b.ReportMetric(float64(total.tokens)/float64(total.cases), "tokens/answer")
	b.ReportMetric(100*float64(total.first)/float64(total.cases), "first-%")
}

func (s *searchedFor) add(o *searchedFor) {
	s.cases += o.cases
	s.calls += o.calls
	s.first += o.first
	s.some += o.some
	s.all += o.all
	s.tokens += o.tokens
	s.cut += o.cut
	s.pair += o.pair
	s.copies += o.copies
	s.elsewhere += o.elsewhere
	s.took = append(s.took, o.took...)
}

func (s *searchedFor) print(w *tabwriter.Writer, kind string) {
	slices.Sort(s.took)
	n := float64(s.cases)
	fmt.Fprintf(w, "%s\t%d\t%.2f\t%.1f\t%.1f\t%.1f\t%.0f\t%.1f\t%d\t%d\t%d\t%d\t\n", kind, s.cases, float64(s.calls)/n,
		100*float64(s.first)/n, 100*float64(s.some)/n, 100*float64(s.all)/n, float64(s.tokens)/n,
		s.took[len(s.took)/2].Seconds()*1000, s.cut, s.pair, s.copies, s.elsewhere)
}

func (s *searchedFor) search(ctx context.Context, q compare.Question, t *tools.Taxonomy, c *tokens.Counter) error {
	start := time.Now()
	found, err := q.Past().Search(ctx, q.Left(), search.Query{Words: q.Words})
	if errors.Is(err, search.ErrQuery) {
		return nil // a call without a word
	}
	if err != nil {
		return err
	}
	s.took = append(s.took, time.Since(start))
	parts := mcp.Placed(found)
	answer := mcp.Found(parts)
	parts.Parts = parts.Parts[:min(1, len(parts.Parts))]
	s.cases++
	s.tokens += c.Text(answer)
	if len(parts.Parts) > 0 && q.In(mcp.Found(parts)) > 0 {
		s.first++
	}
	has := q.In(answer)
	if has > 0 {
		s.some++
	}
	if has == q.Needs() {
		s.all++
		s.calls++
		return nil
	}
	var texts, pairs []string
	byID := has
	for _, p := range found.Passages {
		texts = append(texts, p.Text)
		block, err := journal.Lines(ctx, q.Past().Store, q.Past().Key, t, p.Entry, p.Block, 1, math.MaxInt)
		if err != nil {
			return err
		}
		byID = max(byID, q.In(answer, block.Text))
		if p.Kind != content.KindToolCall {
			continue
		}
		of, err := journal.Find(ctx, q.Past().Store, q.Past().Key, p.Call)
		if err != nil {
			return err
		}
		for _, c := range of {
			if c.Speaker == content.Tool {
				pairs = append(pairs, search.Texts(c)...)
			}
		}
	}
	s.calls += 3
	if byID == q.Needs() {
		s.calls--
	}
	switch {
	case byID > has:
		s.cut++
	case q.In(append(pairs, answer)...) > has:
		s.pair++
	case slices.ContainsFunc(texts, func(text string) bool { return muchAlike(text, texts) > 1 }):
		s.copies++
	default:
		s.elsewhere++
	}
	return nil
}

// muchAlike counts the texts that have half of a text's lines.
func muchAlike(text string, texts []string) (n int) {
	for _, other := range texts {
		same, all := 0, 0
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				all++
				if strings.Contains(other, line) {
					same++
				}
			}
		}
		if 2*same >= cmp.Or(all, 1) {
			n++
		}
	}
	return n
}
