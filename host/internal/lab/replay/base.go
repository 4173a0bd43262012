package replay

import (
	"math"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// Base converts the host's counts of one request into those that its provider billed. A provider counts what no history
// holds (the system prompt, the tool schemas, what the agent inserts) and has a tokenizer of its own. The zero value
// converts nothing: nothing was recorded.
type Base struct {
	counted, reported, ratio float64
}

// Tokens returns what the provider would have billed if the host had counted n for the request, which includes the
// system prompt. For the recorded request it is the recorded count.
func (b Base) Tokens(n int) int {
	if b.reported == 0 {
		return n
	}
	tokens := b.reported - b.ratio*(b.counted-float64(n))
	if shrunk := float64(n) / max(b.counted, 1); shrunk < 1 {
		// A recorder that left out part of the history itself: what it sent shrinks in proportion.
		tokens = max(tokens, b.reported*shrunk)
	}
	return int(math.Round(tokens))
}

// Charge is one call of the model that was billed for a request, or would be.
type Charge struct {
	Base
	// Usage is what was recorded; nil if the recording has no usage at all.
	Usage *transcript.Usage
	// Output is the tokens of the recorded answer; 0 if unknown.
	Output int
}

// Billed reports whether the recording says what its provider counted.
func (r *Recording) Billed() bool { return len(r.Transcript.Usage) > 0 }

// Charges returns what request n, from 0, is charged for. Of a recording with usage, a request without any was not
// billed, such as one that was interrupted: it has no charge. Without usage, the host's count is all there is.
func (r *Recording) Charges(n int) []Charge {
	if !r.Billed() {
		return []Charge{{Output: r.Requests[n].Output}}
	}
	var out []Charge
	for i := range r.Requests[n].Usage {
		u := &r.Requests[n].Usage[i]
		out = append(out, Charge{Base: Base{
			counted: float64(r.Requests[n].Unpruned), reported: float64(u.PromptTokens), ratio: r.ratio,
		}, Usage: u, Output: u.Output})
	}
	return out
}

// billed returns the tokens of a request as its provider would have counted them, and those if nothing had been done.
func (r *Recording) billed(t Turn) (sent, nothing int) {
	for _, c := range r.Charges(t.Turn - 1) {
		sent, nothing = sent+c.Tokens(t.AfterCompress), nothing+c.Tokens(t.Unpruned)
	}
	return sent, nothing
}

// AsCached returns the list by which the prompt cache of a recorded session is priced: that for a cache that is kept for
// an hour where most of what the recorder wrote to it was. What is billed and what decides about rewrites must agree.
func AsCached(t *transcript.Transcript, l *pricing.List) *pricing.List {
	hour, all := 0, 0
	for _, u := range t.Usage {
		hour += u.CacheWriteHour
		all += u.CacheWrite
	}
	if 2*hour > all {
		return l.ForHour()
	}
	return l
}
