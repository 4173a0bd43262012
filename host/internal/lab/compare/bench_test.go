package compare_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// recorded reads the recorded sessions next to the repository, or those with names; it skips where they are absent.
func recorded(tb testing.TB, names ...string) (sessions []compare.Session) {
	tb.Helper()
	root := repo.Shared(tb, "sessions/native")
	err := filepath.WalkDir(root, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || len(names) > 0 && !slices.Contains(names, d.Name()) {
			return err
		}
		t, err := transcript.ReadFile(file, transcript.Options{})
		switch {
		case errors.Is(err, transcript.ErrUnsupportedFormat):
			return nil
		case err != nil:
			return err
		}
		name, err := filepath.Rel(root, file)
		sessions = append(sessions, compare.Session{Name: name, Transcript: t})
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return sessions
}

// lists are price lists that ship.
func lists(tb testing.TB, names ...string) (out []*pricing.List) {
	tb.Helper()
	c, err := pricing.Load("")
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range names {
		l, err := c.Named(name)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// BenchmarkCompare compares four strategies and settings that need no model on all recorded sessions.
func BenchmarkCompare(b *testing.B) {
	sessions, prices := recorded(b), lists(b, "anthropic-sonnet", "openai-gpt-5", "no-cache")
	h := open(b, nil)
	for b.Loop() {
		r, err := compare.Run(
			b.Context(),
			h,
			compare.Options{Sessions: sessions, Prices: prices, Variants: []compare.Variant{
				{
					Strategy: "high-density",
				}, {Strategy: "high-density", Settings: map[string]string{"compression.density.cadence": "gated"}},
				{Strategy: "top-down-truncation"}, {Strategy: "forgetful"},
			}},
		)
		if err != nil {
			b.Fatal(err)
		}
		for _, v := range r.Totals.Variants {
			if !v.Done {
				b.Fatalf("%s: %s", v.Variant, v.Error)
			}
		}
	}
	b.ReportMetric(float64(len(sessions)), "sessions")
}
