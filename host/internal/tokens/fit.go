package tokens

import "math"

// Sample is a prompt as the host counted it and as the provider reported it, in tokens.
type Sample struct{ Counted, Reported int }

// Fit says how far counts were from what the provider reported.
type Fit struct {
	// Requests is the number of samples, Peak the largest report among them.
	Requests, Peak int
	// Compared is the number of samples behind the two errors: all but the first of a calibration that has learned
	// nothing, which can only repeat the count.
	Compared int
	// PlainError is the mean of |counted − reported| / reported, CalibratedError that of the estimate made before the
	// sample was observed. Both are 0 if nothing was compared.
	PlainError, CalibratedError float64
}

// Learn observes the samples of a recorded session in their order, and says how good each estimate was before its
// sample was known. A sample without a report is left out.
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
