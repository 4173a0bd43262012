package tokens

import "math"

// Calibration turns the host's own count of a prompt into what the provider will count. It takes
//
//	reported = overhead + ratio × counted
//
// where the overhead is what no history holds, system prompt and tool schemas, and the ratio is the provider's tokenizer
// against ours. Both are learned from the provider's reports, and every report also sets the point from which the next
// is estimated: [Calibration.Estimate] is the last report plus the ratio times what was added since. On recorded
// sessions that was better than any smoothing, for what makes a prompt deviate, such as hidden reasoning or reminders,
// stays in it for the next request too.
//
// The zero value has learned nothing: ratio 1, overhead 0. A calibration holds for one model and one session; it is a
// value, so that copying it keeps what was learned, and [Calibration.Fresh] begins the next session. It is not safe for
// concurrent use. What it returns depends on nothing but what was observed, in that order.
//
// No report can wreck it. The ratio is learned from what one request has more than the one before it, so that no
// overhead and no jump of it is taken for a tokenizer; a request that has less, or whose history was rewritten, only
// sets a new point. A report far from what was expected moves the estimate no further than a bound, until a second
// report confirms it.
type Calibration struct {
	// counted and grown are the tokens that requests added by our count, and by the provider's: the older, the less.
	counted, grown float64
	overhead       float64 // smoothed, not negative
	samples        int
	last           point // the last report as it came
	level          float64
}

// point is a prompt as the host and as the provider counted it.
type point struct{ counted, reported float64 }

// The constants were chosen on recorded sessions of six agents, for the error of the next estimate and of that after
// half of a history is gone. Twice and half of each differ by less than a tenth in the former.
const (
	minRatio, maxRatio = 0.5, 2

	// priorTokens is how many counted tokens the ratio 1 is worth at the beginning.
	priorTokens = 3_000
	// memoryTokens is how many added tokens the ratio remembers; what is that old counts about a third.
	memoryTokens = 64_000
	// freshTokens is how much of that a new session takes over.
	freshTokens = 16_000
	// stepTokens is the most that one request can count for.
	stepTokens = 16_000
	// slackTokens is how far a request's growth may lie outside of the ratio's bounds: what a provider adds to a
	// request, or leaves out of it, does not depend on the size of what the host added.
	slackTokens = 1_024

	// A report counts as far as it is within maxJump tokens, or maxJumpShare, of what was expected; the first within
	// maxOverhead.
	maxJump      = 24_000
	maxJumpShare = 0.25
	maxOverhead  = 128_000

	// overheadWeight is the weight of a new overhead in the smoothed one.
	overheadWeight = 0.2
	// maxPrompt is more tokens than any model takes; a larger number is no report.
	maxPrompt = 100_000_000
)

// Observe takes the provider's report on a prompt, and what [Counter] counted for the same prompt, both in tokens. A
// report that can be no measurement is left out: none, less than half of what the bounds of the ratio allow, or more
// than 100 million.
func (c *Calibration) Observe(counted, reported int) {
	p := point{counted: float64(max(counted, 0)), reported: float64(reported)}
	if reported <= 0 || reported > maxPrompt || p.reported < p.counted*minRatio/2 {
		return
	}
	expected := c.estimate(p.counted)
	jump := float64(maxOverhead)
	confirmed := false
	if c.samples > 0 {
		jump = max(maxJump, maxJumpShare*expected)
		confirmed = math.Abs(p.reported-c.last.reported-c.Ratio()*(p.counted-c.last.counted)) <= jump
		c.learn(p.counted-c.last.counted, p.reported-c.last.reported)
	}
	if c.level = p.reported; !confirmed {
		c.level = expected + clamp(p.reported-expected, -jump, jump)
	}
	overhead := max(0, c.level-c.Ratio()*p.counted)
	if c.samples > 0 {
		overhead = c.overhead + overheadWeight*(overhead-c.overhead)
	}
	c.overhead, c.last = overhead, p
	c.samples++
}

// learn takes how much a prompt grew by our count and by the provider's.
func (c *Calibration) learn(counted, reported float64) {
	if counted <= 0 {
		return
	}
	grown := clamp(reported, minRatio*counted-slackTokens, maxRatio*counted+slackTokens)
	weight := min(1, stepTokens/counted)
	keep := memoryTokens / (memoryTokens + weight*counted)
	c.counted = keep*c.counted + weight*counted
	c.grown = keep*c.grown + weight*grown
}

// Estimate returns how many tokens the provider will report for a prompt of which the host counts counted: never less
// than half of it, and never less for more. For the prompt of the last report it is that report, unless that one was
// out of bounds and is not confirmed. Before the first report it is what earlier sessions taught; without any, counted.
func (c Calibration) Estimate(counted int) int {
	counted = max(counted, 0)
	if c == (Calibration{}) {
		return counted
	}
	e := math.Round(c.estimate(float64(counted)))
	if e >= math.MaxInt {
		return math.MaxInt
	}
	return int(e)
}

func (c *Calibration) estimate(counted float64) float64 {
	if c.samples == 0 {
		return c.overhead + c.Ratio()*counted
	}
	return max(minRatio*counted, c.level+c.Ratio()*(counted-c.last.counted))
}

// Ratio returns the provider's tokens for each that the host counts, between 0.5 and 2.
func (c Calibration) Ratio() float64 {
	return clamp((priorTokens+c.grown)/(priorTokens+c.counted), minRatio, maxRatio)
}

// Overhead returns the tokens that are in every prompt beside the history, smoothed over the reports; never negative.
// [Calibration.Estimate] is more exact than overhead plus ratio: it knows the last report.
func (c Calibration) Overhead() int { return int(math.Round(c.overhead)) }

// Samples returns how many reports were used in this session.
func (c Calibration) Samples() int { return c.samples }

// Fresh returns a calibration for a new session with the same model: the ratio, as a prior that the new session can outweigh.
// The overhead is an agent's, and another's would be far off until the first report tells.
func (c Calibration) Fresh() Calibration {
	keep := 1.0
	if c.counted > freshTokens {
		keep = freshTokens / c.counted
	}
	return Calibration{counted: keep * c.counted, grown: keep * c.grown}
}

func clamp(x, low, high float64) float64 { return min(max(x, low), high) }
