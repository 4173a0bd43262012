package htmlreport

// point is one value of a line: X is the turn, Y the value.
type point struct{ X, Y float64 }

// thin returns about most points at most that draw the same picture. It divides the points into buckets of neighbours
// and keeps the lowest and highest of each, in their order, and the first and last of all. Taking every n-th point or
// averages would lose the peaks, which are what a chart of context sizes is about. The input is not changed.
func thin(points []point, most int) []point {
	// Four: the ends, and one bucket of two.
	if len(points) <= most || most < 4 {
		return points
	}
	inner := points[1 : len(points)-1]
	buckets := (most - 2) / 2
	out := make([]point, 0, 2*buckets+2)
	out = append(out, points[0])
	for b := range buckets {
		part := inner[b*len(inner)/buckets : (b+1)*len(inner)/buckets]
		// Fewer points than buckets.
		if len(part) == 0 {
			continue
		}
		low, high := 0, 0
		for i, p := range part {
			if p.Y < part[low].Y {
				low = i
			}
			if p.Y > part[high].Y {
				high = i
			}
		}
		// In the order of the turns, or the line would run backwards.
		out = append(out, part[min(low, high)])
		if low != high {
			out = append(out, part[max(low, high)])
		}
	}
	return append(out, points[len(points)-1])
}
