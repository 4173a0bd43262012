package htmlreport

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/thresh-dev/thresh/internal/text"
)

// The size of a chart and the margins around its plot area, in units of the SVG view box. One unit is one CSS pixel
// at the page's full width; the browser scales it down on narrow screens.
const (
	chartWidth  = 760
	chartHeight = 250
	roomLeft    = 62
	roomRight   = 150 // the names of lines stand there
	roomTop     = 12
	roomBottom  = 36
)

// line is the series of one variant over the turns. Style is the number of the series (see seriesStyle); 0 is doing
// nothing. Points are in the order of their turns.
type line struct {
	Style  int
	Name   string
	Points []point
}

// level is a horizontal line across all turns, such as the context limit.
type level struct {
	Name string
	Y    float64
	// Below puts the label under the line instead of above it, so that the labels of a limit and of a threshold just
	// below it do not overlap. A label above the line would leave the chart for a level at its top.
	Below bool
}

// chart is the data of a chart. Desc is the text alternative for screen readers.
type chart struct {
	ID, Title, Desc string
	// Unit names what the vertical axis shows.
	Unit   string
	Lines  []line
	Levels []level
	// Marks are turns at which something happened to all lines, drawn as vertical lines: compactions by the recorder.
	Marks []float64
	// Label formats a value of the vertical axis. Axes of tokens and of dollars differ in it.
	Label func(float64) string
	// Most limits the points per line; see [thin].
	Most int
}

// drawing is a chart with all coordinates computed, ready for the template, which has no arithmetic. Coordinates are
// text with a fixed number of digits: the same report must give the same bytes on every machine.
type drawing struct {
	ID, Title, Desc, Unit string
	Width, Height         int
	Left, Right           string
	Top, Bottom           string
	// LabelX is the right edge of the labels on the vertical axis. XLabelY and XNameY are the baselines of the labels
	// and of the name of the horizontal axis. LevelX is the left edge of the names of levels, EndX that of lines'
	// names.
	LabelX, XLabelY, XNameY, LevelX, EndX string
	XTicks, YTicks                        []tick
	Paths                                 []path
	Levels                                []tick
	Marks                                 []string
	// Ends are the names of lines, next to where each ends; empty if there are too many to tell apart.
	Ends []endLabel
	// Beyond names what does not fit into the chart because it is far above everything else; it is listed in the
	// caption. Empty in most charts.
	Beyond []string
}

// tick is a labelled position on an axis; for levels, TextAt is the baseline of the label.
type tick struct{ At, TextAt, Label string }

// endLabel is the name of a line; TextAt is its baseline.
type endLabel struct {
	Style        int
	Name, TextAt string
}

// path is one line of the chart; D is the "d" attribute of an SVG path.
type path struct {
	Style   int
	Name, D string
}

// A value far above the rest would flatten all other lines. A level more than farAbove times as high as every line is
// only named in the caption. The line of doing nothing is clipped where it gets cutAbove times as high as everything
// else: in a long session it grows without bound, while the lines that matter stay near the limit.
const (
	farAbove = 1.6
	cutAbove = 2.5
)

// draw computes the drawing. Turns run from 1 on the horizontal axis, values from 0 on the vertical one.
func (c chart) draw() drawing {
	// The last turn, the highest value of all lines, and the highest of the lines of strategies.
	last, most, others := 1.0, 0.0, 0.0
	for _, l := range c.Lines {
		for _, p := range l.Points {
			last, most = max(last, p.X), max(most, p.Y)
			if l.Style > 0 {
				others = max(others, p.Y)
			}
		}
	}
	d := drawing{
		ID: c.ID, Title: c.Title, Desc: c.Desc, Unit: c.Unit, Width: chartWidth, Height: chartHeight,
		Left: coordinate(roomLeft), Right: coordinate(chartWidth - roomRight),
		Top: coordinate(roomTop), Bottom: coordinate(chartHeight - roomBottom),
		LabelX: coordinate(roomLeft - 6), XLabelY: coordinate(chartHeight - roomBottom + 15),
		XNameY: coordinate(chartHeight - 4), LevelX: coordinate(roomLeft + 4),
		EndX: coordinate(chartWidth - roomRight + 6),
	}
	// The value at the upper edge.
	top := most
	var drawn []level
	for _, l := range c.Levels {
		if l.Y > most*farAbove {
			d.Beyond = append(d.Beyond, l.Name)
			continue
		}
		drawn = append(drawn, l)
		others = max(others, l.Y)
		// Before the clipping below, which counts levels among what matters.
		top = max(top, l.Y*1.08) // room for its name
	}
	if others > 0 && top > others*cutAbove {
		top = others * cutAbove
		d.Beyond = append(d.Beyond, fmt.Sprintf("the rest of what no strategy would send, up to %s", number(int(most))))
	}
	// A session without tokens; any scale will do.
	if top <= 0 {
		top = 1
	}
	// A session of one turn has no width: its only point stands at the left edge.
	x := func(v float64) float64 {
		return roomLeft + (chartWidth-roomLeft-roomRight)*(v-1)/max(last-1, 1)
	}
	y := func(v float64) float64 {
		return chartHeight - roomBottom - (chartHeight-roomTop-roomBottom)*v/top
	}
	for _, v := range ticks(top, 5) {
		d.YTicks = append(d.YTicks, tick{At: coordinate(y(v)), TextAt: coordinate(y(v) + 4), Label: c.Label(v)})
	}
	// Turns are whole numbers: fractional ticks of short sessions are dropped, and the tick at 0 becomes turn 1.
	for _, v := range ticks(last, 8) {
		v = max(v, 1)
		if v == float64(int(v)) {
			d.XTicks = append(d.XTicks, tick{At: coordinate(x(v)), Label: strconv.Itoa(int(v))})
		}
	}
	for _, l := range drawn {
		baseline := y(l.Y) - 4
		if l.Below {
			baseline = y(l.Y) + 12
		}
		d.Levels = append(d.Levels, tick{At: coordinate(y(l.Y)), TextAt: coordinate(baseline), Label: l.Name})
	}
	for _, m := range c.Marks {
		d.Marks = append(d.Marks, coordinate(x(m)))
	}
	for _, l := range c.Lines {
		d.Paths = append(d.Paths, path{Style: l.Style, Name: l.Name, D: trace(thin(l.Points, c.Most), top, x, y)})
	}
	d.Ends = ends(c.Lines, func(v float64) float64 { return y(min(v, top)) })
	return d
}

// The height of a line's name, and how much of it fits.
const (
	endHeight = 12
	endLength = 24
)

// ends places the names of lines where these end, and moves those apart that would stand on each other.
func ends(lines []line, y func(float64) float64) []endLabel {
	type end struct {
		line
		at float64
	}
	var all []end
	for _, l := range lines {
		if n := len(l.Points); n > 0 {
			all = append(all, end{l, y(l.Points[n-1].Y)})
		}
	}
	if len(all)*endHeight > chartHeight-roomTop-roomBottom {
		return nil
	}
	slices.SortStableFunc(all, func(a, b end) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(all); i++ { // down, from the top
		all[i].at = max(all[i].at, all[i-1].at+endHeight)
	}
	bottom := float64(chartHeight - roomBottom)
	for i := len(all) - 1; i >= 0; i-- { // and up again, what went below the axis
		all[i].at = min(all[i].at, bottom)
		bottom = all[i].at - endHeight
	}
	var out []endLabel
	for _, e := range all {
		out = append(out, endLabel{e.Style, text.ClipMiddle(e.Name, endLength), coordinate(e.at + 4)})
	}
	return out
}

// trace returns a line as the "d" attribute of an SVG path. Parts above top are left out: the line is cut exactly
// where it crosses top, by interpolation, and continued with a new subpath where it comes back.
func trace(points []point, top float64, x, y func(float64) float64) string {
	d := make([]byte, 0, 12*len(points)+8)
	// M begins a subpath, L continues it.
	pen := byte('M')
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

// coordinate formats a coordinate with at most one decimal: a tenth of a pixel. More digits would only make the page
// larger, and tens of thousands of points have two each.
func coordinate(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	if n := len(text) - 2; text[n:] == ".0" {
		return text[:n]
	}
	return text
}
