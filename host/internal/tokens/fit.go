package tokens

import "math"

// Sample is a prompt as counted by the host and as reported by the provider, in tokens.
type Sample struct{ Counted, Reported int }

// Fit says how far counts were off from what the provider reported.
type Fit struct {
	// Requests is the number of samples, Peak the largest report among them.
	Requests, Peak int
	// Compared is the number of samples behind the two errors: all of them, except the first one of a calibration that
	// has learned nothing and can only repeat the count.
	Compared int
	// PlainError is the mean of |counted − reported| / reported. CalibratedError is the same for the estimate made
	// before the sample was observed. Both are 0 if nothing was compared.
	PlainError, CalibratedError float64
}

// Learn observes the samples of a recorded session in order, and measures each estimate before it observes the
// sample. Samples without a report (Reported ≤ 0) are skipped.
func (c *Calibration) Learn(samples []Sample) Fit {
	var f Fit
	for _, s := range samples {
		if s.Reported <= 0 {
			continue
		}
		f.Requests++
		f.Peak = max(f.Peak, s.Reported)
		if *c != (Calibration{}) {
			f.Compared++
			f.PlainError += relative(s.Counted, s.Reported)
			f.CalibratedError += relative(c.Estimate(s.Counted), s.Reported)
		}
		c.Observe(s.Counted, s.Reported)
	}
	if f.Compared > 0 {
		f.PlainError /= float64(f.Compared)
		f.CalibratedError /= float64(f.Compared)
	}
	return f
}

func relative(estimate, reported int) float64 {
	return math.Abs(float64(estimate)-float64(reported)) / float64(reported)
}
