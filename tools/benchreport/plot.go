package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// series is one line of the plot: turn times in milliseconds by the length of the history in tokens. The points are
// sorted by length.
type series struct {
	name   string
	points [][2]float64
}

// turns collects the results of BenchmarkTurn/<name>/tokens=<n>. Other benchmarks, and names without a size, are
// skipped.
func turns(all []*benchmark) []series {
	var out []series
	for _, b := range all {
		rest, ok := strings.CutPrefix(b.name, "Turn/")
		// The part in front is the strategy; the size is part of the benchmark's name.
		name, tokens, found := strings.Cut(rest, "/tokens=")
		n, err := strconv.ParseFloat(tokens, 64)
		if !ok || !found || err != nil {
			continue
		}
		i := slices.IndexFunc(out, func(s series) bool { return s.name == name })
		if i < 0 {
			i = len(out)
			out = append(out, series{name: name})
		}
		out[i].points = append(out[i].points, [2]float64{n, b.median()})
	}
	for i := range out {
		slices.SortFunc(out[i].points, byFirst)
	}
	return out
}

// The plot's measures, in pixels.
const (
	width, height      = 640, 360
	left, top          = 64, 16
	right, bottom      = 190, 44
	plotWide, plotHigh = width - left - right, height - top - bottom
	// Fixed, so plots of two versions can be laid over each other.
	leastTurn, mostTurn = 0.01, 1000.0 // ms
)

// plot draws both axes logarithmically, as SVG that follows the reader's light or dark theme; "" without turn times.
func plot(all []*benchmark) string {
	lines := turns(all)
	if len(lines) == 0 {
		return ""
	}
	// The axis of lengths fits what was measured; the axis of times is fixed.
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range lines {
		low, high = min(low, s.points[0][0]), max(high, s.points[len(s.points)-1][0])
	}
	// The 1e-9 is for a run with a single length.
	x := func(tokens float64) float64 {
		return left + plotWide*(math.Log(tokens)-math.Log(low))/max(1e-9, math.Log(high)-math.Log(low))
	}
	y := func(ms float64) float64 {
		// Values outside are drawn at the edge.
		share := (math.Log(ms) - math.Log(leastTurn)) / (math.Log(mostTurn) - math.Log(leastTurn))
		return top + plotHigh*(1-min(1, max(0, share)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">
<title>Time of a turn that adds three entries, by the length of the history</title>
<style>
text { font: 12px sans-serif; fill: #333 } .grid { stroke: #ccc } .line { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .grid { stroke: #444 } }
</style>
`, width, height)
	// A line for each power of ten. The 1.01 makes up for rounding: the last product may be slightly above the bound.
	for ms := leastTurn; ms <= mostTurn*1.01; ms *= 10 {
		fmt.Fprintf(&b, `<path class="grid" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%.4g ms</text>`+
			"\n",
			left, y(ms), width-right, left-6, y(ms)+4, ms)
	}
	// All lines have the same lengths.
	for _, point := range lines[0].points {
		fmt.Fprintf(&b, `<path class="grid" d="M%.1f %dV%d"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			x(point[0]), top, height-bottom, x(point[0]), height-bottom+18, tokens(point[0]))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">tokens in the history</text>`+"\n", left+plotWide/2,
		height-6)
	// Chosen to be told apart on a light and on a dark ground.
	colors := []string{"#0a7", "#d55", "#57c", "#a6a"}
	names := labels(lines, y)
	for i, s := range lines {
		color := colors[i%len(colors)]
		var path []string
		for _, p := range s.points {
			path = append(path, fmt.Sprintf("%.1f %.1f", x(p[0]), y(p[1])))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"><title>%.3g ms</title></circle>`+"\n",
				x(p[0]), y(p[1]), color, p[1])
		}
		// The name stands at the end of its line, which saves a legend.
		last := s.points[len(s.points)-1]
		fmt.Fprintf(&b, `<path class="line" stroke="%s" d="M%s"/><text x="%.1f" y="%.1f">%s</text>`+"\n",
			color, strings.Join(path, "L"), x(last[0])+8, names[i], s.name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// labels returns how far down the name of each line stands: at the line's end, and below other names there.
func labels(lines []series, y func(ms float64) float64) []float64 {
	const high = 14 // a line of text
	at := make([]float64, len(lines))
	down := make([]int, len(lines)) // the lines from the top down
	for i, s := range lines {
		at[i], down[i] = y(s.points[len(s.points)-1][1])+4, i
	}
	slices.SortFunc(down, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	for k, i := range down[1:] {
		at[i] = max(at[i], at[down[k]]+high)
	}
	return at
}

// tokens shortens a number of tokens.
func tokens(n float64) string {
	if n >= 1e6 {
		return fmt.Sprintf("%g M", n/1e6)
	}
	return fmt.Sprintf("%g k", n/1e3)
}
