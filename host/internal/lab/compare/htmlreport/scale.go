package htmlreport

import "math"

// ticks returns round values from 0 up to most, about count of them. The tolerance of 1e-9 keeps the last tick when
// rounding errors put it slightly above most. A useless range (0, negative, NaN, infinite) gets the tick 0 alone.
func ticks(most float64, count int) []float64 {
	if !(most > 0) || math.IsInf(most, 0) {
		return []float64{0}
	}
	step := roundStep(most / float64(count))
	var out []float64
	// Multiplied and not added up, so errors do not grow.
	for i := 0; float64(i)*step <= most*(1+1e-9); i++ {
		out = append(out, float64(i)*step)
	}
	return out
}

// roundStep returns the smallest number of the form 1, 2 or 5 times a power of ten that is not below step: the steps
// that people read easily. step must be positive.
func roundStep(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= step*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}
