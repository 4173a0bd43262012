package htmlreport

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/internal/lab/probe"
)

type probePage struct {
	Style     template.CSS
	StyleHash string

	Title, Scope, Gaps, Clusters string
	Scores                       table
	Plot                         *plot // nil if no question scores
	Differences                  table
	Times                        section
}

// WriteProbe writes the page of a probe, in the same way as [Write].
func WriteProbe(w io.Writer, r *probe.Report, o Options) error {
	p := &probePage{
		Title: "What a model could still tell", Clusters: r.Clusters, Gaps: gaps(r),
		Scope: fmt.Sprintf("%s at %s of %s. The graders agreed on %s of %s answers.", counted(r.Questions, "question"),
			counted(r.Moments, "moment"), counted(r.Sessions, "recorded session"), number(r.Agreed), number(r.Graded)),
		Times: section{Title: "Made", Lead: "On " + o.Made.UTC().Format("2006-01-02 15:04 UTC") + " by thresh " +
			clean(o.Version) + ", with version " + fmt.Sprint(r.Prompts) + " of the prompts."},
	}
	p.Style, p.StyleHash = style()
	if r.Questions > 0 {
		p.Scores, p.Plot = scores(r), depths(r)
		p.Differences = differences(r)
	}
	return write(w, "probe", p)
}

// gaps says what is missing from the figures; "" if nothing is.
func gaps(r *probe.Report) string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, number(n)+" "+what)
		}
	}
	add(len(r.Failed), "replays failed or were not made")
	add(len(r.Problems), "replies cannot be used")
	add(len(r.Missing), "sheets are missing")
	add(r.Open, "questions lack an answer or a grade")
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + "."
}

func scores(r *probe.Report) table {
	t := table{Caption: "Scores by kind of question, with 95\u00a0% intervals",
		Heads: append(append([]string{"variant", "score"}, probe.Kinds...), "after rewrites", "worst", "wrong, unknown", "left",
			"cost")}
	for i := range r.Variants {
		v := &r.Variants[i]
		cells := []string{scored(v.Score)}
		for _, kind := range probe.Kinds {
			cells = append(cells, scored(v.Kinds[kind]))
		}
		t.add(short(v.Variant), append(cells, scored(v.After), v.Worst.Points(), percent(v.Wrong)+", "+percent(v.Unknown),
			number(v.Left), relative(v.Relative))...)
	}
	return t
}

// scored is a score with its interval, which stands on one line.
func scored(s probe.Score) string {
	if s.Interval == nil || s.Questions == 0 {
		return s.String()
	}
	return s.String() + " (" + strings.Replace(s.Between(), "…", "\u2060…\u2060", 1) + ")"
}

func differences(r *probe.Report) table {
	t := table{Caption: "Difference on the same questions", Heads: []string{"of", "than", "score", "95\u00a0%"}, Text: true}
	for _, d := range r.Differences {
		if d.Score.Questions > 0 {
			t.add(short(d.Variant), short(d.Than), fmt.Sprintf("%+.2f", d.Score.Mean), d.Score.Between())
		}
	}
	return t
}

// plot is the picture of depth against score, with all coordinates computed.
type plot struct {
	Width, Height                   int
	Left, Right                     int
	LabelX, XLabelY, XNameY, YNameY int
	XTicks, YTicks                  []tick
	Dots, Keys                      []dot
}

// dot is a mark of the plot or of its legend. Text is its title, or what the legend says.
type dot struct {
	Style   int // from 1
	After   bool
	D, Text string
}

const (
	// styles is how many colours and shapes there are. Further variants begin again.
	styles = 6
	// The plot is narrower than the chart, to be readable on a phone, with room for the larger text that it has there.
	plotWidth, plotHeight                       = 640, 400
	plotLeft, plotRight, plotTop, plotBottomGap = 52, 30, 30, 52
)

// depths draws each variant at each moment that has questions. Doing nothing is not drawn: it is at 100 % and 1.
func depths(r *probe.Report) *plot {
	p := &plot{
		Width: plotWidth, Height: plotHeight, Left: plotLeft, Right: plotWidth - plotRight, LabelX: plotLeft - 6,
		XLabelY: plotHeight - plotBottomGap + 22, XNameY: plotHeight - 6, YNameY: plotTop - 12,
	}
	x := func(v float64) float64 { return plotLeft + (plotWidth-plotLeft-plotRight)*v }
	y := func(v float64) float64 { return plotHeight - plotBottomGap - (plotHeight-plotTop-plotBottomGap)*v }
	for i := range 6 {
		v := float64(i) / 5
		p.YTicks = append(p.YTicks, tick{coordinate(y(v)), coordinate(y(v) + 4), fmt.Sprintf("%.1f", v)})
		p.XTicks = append(p.XTicks, tick{At: coordinate(x(v)), Label: fmt.Sprintf("%d %%", 20*i)})
	}
	whole := map[string]int{}
	for _, m := range r.ByMoment {
		if m.Variant == compare.NothingName {
			whole[m.Moment] = m.Tokens
		}
	}
	style := map[string]int{}
	for _, v := range r.Variants {
		if v.Variant == compare.NothingName {
			continue
		}
		n := len(style)%styles + 1
		style[v.Variant] = n
		p.Keys = append(p.Keys, dot{Style: n, D: mark(n, 0, 0), Text: fmt.Sprintf("%s: score %s with %s tokens left, cost %s",
			short(v.Variant), scored(v.Score), number(v.Left), relative(v.Relative))})
	}
	for i := range r.ByMoment {
		m := &r.ByMoment[i]
		if m.Questions == 0 || style[m.Variant] == 0 || whole[m.Moment] == 0 {
			continue
		}
		left := float64(m.Tokens) / float64(whole[m.Moment])
		n := style[m.Variant]
		p.Dots = append(p.Dots, dot{n, !m.Spread, mark(n, x(min(left, 1)), y(m.Score)),
			fmt.Sprintf("%s, turn %s of %s: score %s with %s left", short(m.Variant), number(m.Turn), short(m.Session),
				m.Points(), percent(left))})
	}
	return p
}

func mark(style int, x, y float64) string {
	shape := [styles]string{
		"m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z", "m-4 -4h8v8h-8z", "m0 -5l5 8.5h-10z", "m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z",
		"m0 5l5 -8.5h-10z", "m-1.5 -5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
	}[style-1]
	return "M" + coordinate(x) + " " + coordinate(y) + shape
}
