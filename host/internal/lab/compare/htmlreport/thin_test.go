package htmlreport

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
)

// A line that is thinned out has the same ends, the same lowest and highest value, and no point of its own.
func TestThinKeepsThePicture(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(0, 50), 1, 2000).Draw(t, "values")
		most := rapid.IntRange(4, 400).Draw(t, "most")
		points := make([]point, len(values))
		for i, v := range values {
			points[i] = point{float64(i), float64(v)}
		}
		got := thin(points, most)
		if len(points) > most && len(got) > most {
			t.Fatalf("%d points, at most %d are wanted", len(got), most)
		}
		if got[0] != points[0] || got[len(got)-1] != points[len(points)-1] {
			t.Fatalf("the ends are %v and %v", got[0], got[len(got)-1])
		}
		at := 0
		for i, p := range got {
			if i > 0 && p.X <= got[i-1].X {
				t.Fatalf("point %d is not to the right of the one before", i)
			}
			if at = int(p.X); points[at] != p {
				t.Fatalf("%v is not of the line", p)
			}
		}
		height := func(a, b point) int { return int(a.Y - b.Y) }
		if slices.MaxFunc(points, height).Y != slices.MaxFunc(got, height).Y ||
			slices.MinFunc(points, height).Y != slices.MinFunc(got, height).Y {
			t.Fatal("a peak is lost")
		}
	})
}

func TestTicksAreRound(t *testing.T) {
	t.Parallel()
	for most, want := range map[float64][]float64{
		0:      {0},
		1:      {0, 0.2, 0.4, 0.6000000000000001, 0.8, 1},
		28_000: {0, 10_000, 20_000},
		120:    {0, 50, 100},
		99_999: {0, 20_000, 40_000, 60_000, 80_000},
	} {
		if got := ticks(most, 5); !slices.Equal(got, want) {
			t.Errorf("up to %v: %v, want %v", most, got, want)
		}
	}
}

func TestALineLeavesTheChartWhereItIsTooHigh(t *testing.T) {
	t.Parallel()
	same := func(v float64) float64 { return v }
	for name, c := range map[string]struct {
		points []point
		want   string
	}{
		"inside":             {[]point{{1, 1}, {2, 3}}, "M1 1L2 3"},
		"leaves":             {[]point{{1, 0}, {2, 20}, {3, 30}}, "M1 0L1.5 10"},
		"leaves and returns": {[]point{{1, 0}, {2, 20}, {3, 0}}, "M1 0L1.5 10M2.5 10L3 0"},
		"a single turn":      {[]point{{1, 5}}, "M1 5h0"},
		"never there":        {[]point{{1, 50}, {2, 60}}, ""},
	} {
		if got := trace(c.points, 10, same, same); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A recording may lack the usage of some requests: they are unknown, not zero.
func TestARequestWithoutUsageIsNotDrawn(t *testing.T) {
	points := []compare.Point{{Turn: 1, Sent: 50, Unpruned: 50}, {Turn: 2}, {Turn: 3, Sent: 60, Unpruned: 70}}
	var session compare.SessionReport
	session.Nothing.Points = points
	session.Variants = []compare.Result{{Variant: "one", Points: points}}
	for _, p := range contextChart(&compare.Report{Sessions: []compare.SessionReport{session}}, 0)[0].Paths {
		if want := []point{{1, 50}, {3, 60}}; !slices.Equal(p.points, want) {
			t.Errorf("%s has the points %v, want %v", p.Name, p.points, want)
		}
	}
}

func TestFiguresAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		number(1234567): "1,234,567", number(-1000): "−1,000", thousands(50_000): "50 k", thousands(12_345): "12,345",
		show(compare.Change, -0.5): "−50\u00a0%", show(compare.Kept, 0.99999): "99.9\u00a0%", typeset("-"): "–",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
