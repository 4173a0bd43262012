package tokens

import "math"

// Sample is our count and the provider's report of a prompt, in tokens.
type Sample struct{ Counted, Reported int }

// Fit says how far counts were from the provider's reports.
type Fit struct {
	// Requests is the number of samples, Peak the largest report.
	Requests, Peak int
	// Compared is the number of samples behind the errors: all but the first one of a calibration that has learned
	// nothing and can only repeat the count.
	Compared int
	// PlainError is the mean of |counted − reported| / reported, CalibratedError the same for the estimate made before
	// the sample was observed. Both are 0 if nothing was compared.
	PlainError, CalibratedError float64
}

// Learn observes the samples of a recorded session in order, and measures the estimate before each. It skips samples
// without a report (Reported ≤ 0).
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
