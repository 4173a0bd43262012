package replay

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Recording is a recorded session and what is known of it before any strategy sees it. It is not changed by replays,
// and any number of them may run at the same time.
type Recording struct {
	Transcript *transcript.Transcript
	// Counted are the transcript's entries with their counts in the host's encoding.
	Counted window.Counted
	// System is what the transcript's system prompt counts, in tokens. Every request holds it.
	System int
	// Window is that of the sessions of a replay, unless its settings name another.
	Window Window
	// Requests are the requests that the recorded agent made, in order. A replay has a turn for each.
	Requests []Request
	// ratio is how many tokens the provider counted for one that the host counts, 1 if that is not known.
	ratio float64
}

// Request is one request that the recorded agent made. Tokens cover the system prompt and the history, as the
// host counts them.
type Request struct {
	transcript.Request
	// Unpruned is what the request counts if nothing is ever done to the history.
	Unpruned int
	// Projected is what the host would have expected the provider to count for it, by what the recorder reported of the
	// requests before: the provider adds a system prompt and tool schemas, and has a tokenizer of its own.
	Projected int
	// Answered says that the recording has the model's answer.
	Answered bool
}

// Record counts the entries of t as sessions of h would, and finds its requests. The error is of counting: wrong
// settings, or ctx's.
func Record(ctx context.Context, h *window.Host, t *transcript.Transcript) (*Recording, error) {
	counted, err := h.Count(ctx, t.Entries)
	if err != nil {
		return nil, err
	}
	r := &Recording{Transcript: t, Counted: counted, System: counted.Counter().System(t.System), Window: WindowOf(h, t)}
	var (
		context     *Baseline // what the request would hold
		calibration tokens.Calibration
		all         tokens.Calibration // over the recorder's compactions
		next        int                // the first entry that is not in context
	)
	for n, asked := range t.Requests() {
		if n == 0 || asked.Boundary {
			// The recorder replaced the context: nothing of what was in it is in the next request, and what was
			// learned from reports about the old context need not hold for the new one.
			context, calibration, next = NewBaseline(counted), tokens.Calibration{}, asked.From
			all = all.Fresh()
		}
		context.Add(counted.Slice(next, asked.Entry))
		next = asked.Entry
		request := Request{Request: asked, Unpruned: r.System + context.Tokens(),
			Answered: asked.Entry < len(t.Entries) && !refused(t.Entries[asked.Entry])}
		request.Projected = calibration.Estimate(request.Unpruned)
		if asked.Reported > 0 {
			calibration.Observe(request.Unpruned, asked.Reported)
			all.Observe(request.Unpruned, asked.Reported)
		}
		r.Requests = append(r.Requests, request)
	}
	r.ratio = all.Ratio()
	return r, nil
}

// Timed reports whether it is known when the requests were made. Otherwise no pause lets a provider's cache go cold.
func (r *Recording) Timed() bool {
	for _, q := range r.Requests {
		if !q.At.IsZero() {
			return true
		}
	}
	return false
}

// Baseline is an untouched history, whose view is what would be sent without a strategy. It belongs to one goroutine.
type Baseline struct {
	history *history.History
	counter *tokens.Counter
}

// NewBaseline is empty, and counts as the entries were counted.
func NewBaseline(c window.Counted) *Baseline { return &Baseline{history.New(), c.Counter()} }

func (b *Baseline) Add(c window.Counted) { c.AppendTo(b.history) }

// Contents is what would be sent now. It must not be changed.
func (b *Baseline) Contents() []content.Content { return b.history.View(b.counter.Entry).Contents() }

// Tokens is the token count of what would be sent now.
func (b *Baseline) Tokens() int { return b.history.View(b.counter.Entry).Tokens }
