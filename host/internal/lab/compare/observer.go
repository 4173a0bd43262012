package compare

import (
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/outcome"
)

// observer is the fold of a comparison over the turns of one replay. What a turn costs it depends on what the turn
// changed, not on how long the history is.
type observer struct {
	rec    *recording
	tally  *tally
	limits *outcome.Limits
	points []Point

	bill        *bill
	held        *held        // nil if nothing is done: then every request holds all that was before it
	attribution *attribution // nil if nothing is done
}

// observe returns an observer of a variant that is priced by lists.
func observe(rec *recording, lists []*pricing.List) *observer {
	t := newTally(lists)
	t.sessions = 1
	return &observer{rec: rec, tally: t, bill: newBill(lists, t.costs)}
}

// turn looks at the next turn.
func (o *observer) turn(t replay.Turn) {
	o.tally.Count(t)
	point := Point{
		Turn: t.Turn, Entry: t.Entry, Sent: t.AfterCompress, Unpruned: t.Unpruned,
		OverLimit: t.Overflow != "", USD: o.bill.request(t),
	}
	if o.held != nil {
		changed := o.held.send(t.Prepared.History, t.Stable.Entries)
		point.Rewrite = changed && !t.Boundary && t.Turn > 1
		limits := t.Prepared.Outcome.Limits
		o.limits = &limits
	}
	if point.Rewrite {
		o.tally.rewrites++
	}
	o.points = append(o.points, point)
	used := o.rec.uses[t.Turn-1]
	o.recall(used.words, t.Turn)
	o.reread(used.repeats)
	if o.attribution != nil {
		o.attribution.turn(t)
	}
}

// recall counts how many of the used words the request held.
func (o *observer) recall(words []usedWord, turn int) {
	r := &o.tally.recall
	for _, u := range words {
		r.Used++
		if u.onlyResults {
			r.UsedResults++
		}
		switch {
		case o.held.holds(u.word):
			r.Kept++
			if u.onlyResults {
				r.KeptResults++
			}
		case len(r.Lost) < MaxLost:
			r.Lost = append(r.Lost, Lost{
				Identifier: o.rec.names[u.word], Session: o.rec.name, Turn: turn, Entry: int(u.entry), From: int(u.from),
			})
		}
	}
}

// reread counts the calls whose earlier results were no longer in the request.
func (o *observer) reread(calls []repeatedCall) {
	for _, c := range calls {
		if !o.held.holds(c.group) {
			o.tally.rereads.Calls++
			o.tally.rereads.Tokens += c.tokens
		}
	}
}

// finishReplay is finish with the limits of the last turn.
func (o *observer) finishReplay() {
	if o.limits != nil {
		o.finish(o.limits.Hard)
	}
}

// finish counts the requests that would have been over the limit of hard tokens, of those that were replayed.
func (o *observer) finish(hard int) {
	for _, q := range o.rec.Requests[:o.tally.Turns] {
		if q.Projected > hard {
			o.tally.unprunedOverLimit++
		}
	}
}
