package tokens

import "math"

// Calibration predicts the provider's token count of a prompt from the host's own count. It assumes
//
//	reported = overhead + ratio × counted
//
// The overhead is what no history contains: the system prompt and the tool schemas. The ratio compares the provider's
// tokenizer with ours. [Calibration.Estimate] is the last report plus the ratio times what was added since. On recorded
// sessions this beat every kind of smoothing, because what makes a prompt deviate (hidden reasoning, reminders) returns
// in the next.
//
// The zero value has learned nothing: ratio 1, overhead 0. A calibration is for one model and one session, see
// [Calibration.Fresh]. It is not safe for concurrent use. Its results depend only on the observations and their order.
//
// No single report can spoil it. The ratio is learned from the growth between two requests, so the overhead, or a jump
// of it, is never mistaken for a property of the tokenizer. A smaller request, or one with a rewritten history, only
// sets a new starting point. A report far from the expectation moves the estimate by a bounded amount until confirmed.
type Calibration struct{ learned Learned }

// Learned is a calibration as data; [Learned.Calibration] gives the same calibration back.
type Learned struct {
	// Counted and Grown are the tokens that requests added, by our count and by the provider's. Old ones fade.
	Counted, Grown float64
	Overhead       float64 // smoothed, not negative
	Samples        int
	// LastCounted and LastReported are the last report as it came.
	LastCounted, LastReported float64
	Level                     float64
}

func (c Calibration) Learned() Learned { return c.learned }

func (l Learned) Calibration() Calibration { return Calibration{l} }

// Chosen on recorded sessions of six agents, to minimise the error of the next estimate and of the estimate after half
// of a history is gone. Doubling or halving any of them changes the former by less than a tenth.
const (
	minRatio, maxRatio = 0.5, 2

	// priorTokens is the weight of the initial ratio 1, in counted tokens.
	priorTokens = 3_000
	// memoryTokens is the memory of the ratio, in added tokens; growth that old counts about a third.
	memoryTokens = 64_000
	// freshTokens is how much of that memory a new session inherits.
	freshTokens = 16_000
	// stepTokens is the most that one request can count for.
	stepTokens = 16_000
	// slackTokens is how far a request's growth may be outside the ratio's bounds. What a provider adds or leaves out
	// does not depend on the size of what the host added.
	slackTokens = 1_024

	// A report counts in full within maxJump tokens, or maxJumpShare, of the expectation; the first one within
	// maxOverhead.
	maxJump      = 24_000
	maxJumpShare = 0.25
	maxOverhead  = 128_000

	overheadWeight = 0.2
	// maxPrompt is more tokens than any model takes: a larger number is no measurement.
	maxPrompt = 100_000_000
)

// Observe learns from the provider's report on a prompt and from our count of it, both in tokens. It ignores what
// cannot be a measurement: at most 0, more than 100 million, or below half of what minRatio allows.
func (c *Calibration) Observe(counted, reported int) {
	l, ours, theirs := &c.learned, float64(max(counted, 0)), float64(reported)
	if reported <= 0 || reported > maxPrompt || theirs < ours*minRatio/2 {
		return
	}
	expected := c.estimate(ours)
	jump := float64(maxOverhead)
	confirmed := false
	if l.Samples > 0 {
		jump = max(maxJump, maxJumpShare*expected)
		confirmed = math.Abs(theirs-l.LastReported-c.Ratio()*(ours-l.LastCounted)) <= jump
		l.learn(ours-l.LastCounted, theirs-l.LastReported)
	}
	if l.Level = theirs; !confirmed {
		l.Level = expected + clamp(theirs-expected, -jump, jump)
	}
	overhead := max(0, l.Level-c.Ratio()*ours)
	if l.Samples > 0 {
		overhead = l.Overhead + overheadWeight*(overhead-l.Overhead)
	}
	l.Overhead, l.LastCounted, l.LastReported = overhead, ours, theirs
	l.Samples++
}

func (l *Learned) learn(counted, reported float64) {
	if counted <= 0 {
		return
	}
	grown := clamp(reported, minRatio*counted-slackTokens, maxRatio*counted+slackTokens)
	weight := min(1, stepTokens/counted)
	keep := memoryTokens / (memoryTokens + weight*counted)
	l.Counted = keep*l.Counted + weight*counted
	l.Grown = keep*l.Grown + weight*grown
}

// Estimate returns how many tokens the provider will report for a prompt that the host counts as counted. It never
// falls when counted grows, and is at least half of it. For the last report's prompt it is that report, unless that was
// out of bounds and unconfirmed. Before the first report it relies on earlier sessions, if any.
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
	l := c.learned
	if l.Samples == 0 {
		return l.Overhead + c.Ratio()*counted
	}
	return max(minRatio*counted, l.Level+c.Ratio()*(counted-l.LastCounted))
}

// Ratio returns how many tokens the provider reports for each token that the host counts, between 0.5 and 2.
func (c Calibration) Ratio() float64 {
	return clamp((priorTokens+c.learned.Grown)/(priorTokens+c.learned.Counted), minRatio, maxRatio)
}

// Overhead returns the tokens in every prompt besides the history, smoothed over the reports; never negative.
// [Calibration.Estimate] is more exact than overhead plus ratio times count, because it knows the last report.
func (c Calibration) Overhead() int { return int(math.Round(c.learned.Overhead)) }

// Samples returns how many reports were used in this session.
func (c Calibration) Samples() int { return c.learned.Samples }

// Fresh returns a calibration for a new session with the same model. It inherits the ratio, as a prior that the new
// session can outweigh, but not the overhead: another agent's would be far off until the first report.
func (c Calibration) Fresh() Calibration {
	keep := 1.0
	l := c.learned
	if l.Counted > freshTokens {
		keep = freshTokens / l.Counted
	}
	return Learned{Counted: keep * l.Counted, Grown: keep * l.Grown}.Calibration()
}

func clamp(x, low, high float64) float64 { return min(max(x, low), high) }
