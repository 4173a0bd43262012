package htmlreport

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/host/outcome"
)

// The sizes of the chart and its margins, in units of the SVG view box: CSS pixels at the page's full width.
const (
	deskWidth   = 960
	phoneWidth  = 400 // a chart that is made smaller could not be read
	chartHeight = 300
	roomLeft    = 62
	roomRight   = 14
	roomTop     = 12
	roomBottom  = 36
	// maxPoints is every second pixel: more could not be told apart.
	maxPoints = 360
	// cutAbove is how many times as high as all else the line of doing nothing may get before it is cut: in a long
	// session it grows without bound, while the lines that matter stay near the limit.
	cutAbove = 2.5
)

// drawing is the chart with all coordinates computed, as the template has no arithmetic. They are text with a fixed
// number of digits: the same report gives the same bytes on every machine.
type drawing struct {
	Title, Desc, Class              string
	Width, Height                   int
	Left, Right, Top, Bottom        int
	LabelX, LevelX, XLabelY, XNameY int
	YNameY                          int
	XTicks, YTicks, Levels          []tick
	Paths                           []path
	Marks                           []string // turns before which the recorder compacted its own history
	Cut                             bool     // the line of doing nothing leaves the chart
}

// tick is a labelled position on an axis, or a level across the chart. TextAt is the baseline of its label.
type tick struct{ At, TextAt, Label string }

// path is one line. D is the "d" attribute of an SVG path.
type path struct {
	Style   int // 0 is doing nothing
	Name, D string
	points  []point
}

// contextChart draws what was sent in the session with the most tokens, without a strategy and with one variant: for a
// desk and for a phone, of which one is shown. Nil without turns.
func contextChart(r *compare.Report, variant int) []*drawing {
	var s *compare.SessionReport
	for i := range r.Sessions {
		if c := &r.Sessions[i]; len(c.Variants[variant].Points) > 0 && (s == nil || c.Nothing.Unpruned > s.Nothing.Unpruned) {
			s = c
		}
	}
	if s == nil {
		return nil
	}
	return []*drawing{draw(s, variant, "desk", deskWidth), draw(s, variant, "phone", phoneWidth)}
}

func draw(s *compare.SessionReport, variant int, class string, width int) *drawing {
	d := &drawing{
		Title: "Tokens sent in each turn of " + short(s.Name), Class: class, Width: width, Height: chartHeight,
		Left: roomLeft, Right: width - roomRight, Top: roomTop, Bottom: chartHeight - roomBottom,
		LabelX: roomLeft - 6, LevelX: roomLeft + 4, XLabelY: chartHeight - roomBottom + 15, XNameY: chartHeight - 4,
		YNameY: roomTop - 2,
	}
	var desc []string
	for style, res := range []*compare.Result{&s.Nothing, &s.Variants[variant]} {
		p := path{Style: style, Name: compare.NothingName}
		if style > 0 {
			p.Name = short(res.Variant)
		}
		for _, at := range res.Points {
			if at.Unpruned == 0 { // a request that the recording has no usage of
				continue
			}
			p.points = append(p.points, point{float64(at.Turn), float64(at.Sent)})
		}
		d.Paths = append(d.Paths, p)
		desc = append(desc, fmt.Sprintf("%s: peak %s, sent in all %s.", p.Name, number(res.Peak), number(res.Sent)))
	}
	d.Desc = strings.Join(desc, " ")
	limit, threshold := 0.0, 0.0
	if l := s.Variants[variant].Limits; l != nil {
		limit = float64(l.Hard)
		if l.ThresholdFrom != outcome.FromPrices { // where it moves, the last turn's is not that of the others
			threshold = l.Trigger
		}
	}
	d.place(limit, threshold, s.Boundaries)
	return d
}

// place places the lines, the axes, the limit and the threshold (0 for none).
func (d *drawing) place(limit, threshold float64, boundaries []int) {
	last, most, others := 1.0, 1.0, 1.0
	for _, p := range d.Paths {
		for _, at := range p.points {
			last, most = max(last, at.X), max(most, at.Y)
			if p.Style > 0 {
				others = max(others, at.Y)
			}
		}
	}
	// A limit far above every line would flatten them.
	if limit > 1.6*most {
		limit, threshold = 0, 0
	}
	top := max(most, limit*1.08) // with room for its name
	if bound := cutAbove * max(others, limit); top > bound {
		top, d.Cut = bound, true
	}
	// A session of one turn has no width: its only point stands at the left edge.
	x := func(v float64) float64 { return roomLeft + float64(d.Right-d.Left)*(v-1)/max(last-1, 1) }
	y := func(v float64) float64 { return chartHeight - roomBottom - (chartHeight-roomTop-roomBottom)*v/top }
	for _, v := range ticks(top, 5) {
		d.YTicks = append(d.YTicks, tick{coordinate(y(v)), coordinate(y(v) + 4), thousands(v)})
	}
	// Turns are whole numbers: fractional ticks of short sessions are dropped, and the tick at 0 becomes turn 1.
	for _, v := range ticks(last, d.Width/110) {
		if v = max(v, 1); v == float64(int(v)) {
			d.XTicks = append(d.XTicks, tick{At: coordinate(x(v)), Label: strconv.Itoa(int(v))})
		}
	}
	// The threshold's name stands below its line: it is just below the limit.
	if limit > 0 {
		d.Levels = append(d.Levels, tick{coordinate(y(limit)), coordinate(y(limit) - 4), "limit " + number(int(limit))})
	}
	if threshold > 0 {
		d.Levels = append(d.Levels, tick{coordinate(y(threshold)), coordinate(y(threshold) + 12),
			"threshold " + number(int(threshold))})
	}
	for _, turn := range boundaries {
		d.Marks = append(d.Marks, coordinate(x(float64(turn))))
	}
	for i := range d.Paths {
		p := &d.Paths[i]
		p.D = trace(thin(p.points, maxPoints*d.Width/deskWidth), top, x, y)
	}
}

// trace returns a line as the "d" attribute of an SVG path. Parts above top are left out: the line is cut exactly where
// it crosses top, by interpolation, and continued where it comes back.
func trace(points []point, top float64, x, y func(float64) float64) string {
	d := make([]byte, 0, 12*len(points)+8)
	pen := byte('M') // M begins a subpath, L continues it
	to := func(p point) {
		d = append(d, pen)
		d = append(d, coordinate(x(p.X))...)
		d = append(d, ' ')
		d = append(d, coordinate(y(p.Y))...)
		pen = 'L'
	}
	for i, p := range points {
		inside := p.Y <= top
		if i > 0 && inside != (points[i-1].Y <= top) {
			q := points[i-1]
			// Never a division by zero: one of the two is above top and the other is not.
			to(point{q.X + (p.X-q.X)*(top-q.Y)/(p.Y-q.Y), top})
		}
		if inside {
			to(p)
		} else {
			pen = 'M'
		}
	}
	if len(points) == 1 { // a line of length zero: round line caps draw it as a dot
		d = append(d, "h0"...)
	}
	return string(d)
}

// coordinate formats a coordinate with at most one decimal: a tenth of a pixel.
func coordinate(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}
