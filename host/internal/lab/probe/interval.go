package probe

import (
	"math/rand/v2"
	"slices"
)

// resamples is how often a bootstrap draws: enough for both ends of the interval to be stable to two decimals.
const resamples = 2000

// measured is a sum over some questions, and their number.
type measured struct {
	sum float64
	n   int
}

// interval returns the middle 95 % of means over clusters drawn with replacement. Questions of one cluster depend on
// each other, so it is clusters that are drawn, not questions. The draws are the same each time. ok is false if there
// are fewer than two clusters.
func interval(clusters []measured) (low, high float64, ok bool) {
	if len(clusters) < 2 {
		return 0, 0, false
	}
	random := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, 0, resamples)
	for range resamples {
		var drawn measured
		for range clusters {
			c := clusters[random.IntN(len(clusters))]
			drawn.sum += c.sum
			drawn.n += c.n
		}
		means = append(means, drawn.sum/float64(drawn.n))
	}
	slices.Sort(means)
	return means[resamples/40], means[resamples-1-resamples/40], true
}
