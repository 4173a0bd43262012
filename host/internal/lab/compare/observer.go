package compare

import (
	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
)

// observer folds the turns of one replay into a tally and a list of points. The cost of a turn depends on what the
// turn changed, not on the length of the history. It is used by one goroutine.
type observer struct {
	rec    *recording
	tally  *tally
	limits *outcome.Limits
	points []Point
	steps  []replay.Turn // if they are kept
	keep   bool
	// setWindow says that the user or the variant set the window.
	setWindow bool

	bill        *bill
	held        *held    // nil for doing nothing: every request contains all entries before it
	carried     *carried // nil for doing nothing
	own         *ownShare
	lacking     []neededCall // of the latest turn
	back        wayBack
	lacked      func(lack) error // nil but in tests
	sendable    map[int]bool     // for doing nothing: turns, from 1, that some variant could send
	sent        int              // entries of the last request that could be sent
	stable      int              // entries at the beginning of all requests since that one
	attribution *attribution     // nil for doing nothing
}

// observe returns an observer for doing nothing; for a variant, set held and attribution.
func observe(rec *recording, lists []*pricing.List) *observer {
	t := newTally(lists)
	t.sessions = 1
	return &observer{rec: rec, tally: t, bill: newBill(rec, lists, t.costs), own: newOwnShare(rec)}
}

// turn takes the next turn. A request that changed the last one that was sent is a rewrite, unless the recorder
// compacted before it: that loss of the prompt cache is not the strategy's doing.
func (o *observer) turn(t replay.Turn) {
	if o.keep {
		step := t
		step.Added, step.Prepared = nil, window.Prepared{} // else every state of the history stays in memory
		o.steps = append(o.steps, step)
	}
	overLimit := t.Overflow != ""
	whole := !t.Boundary && t.Stable.Entries >= o.sent
	more := o.carried.send(t.Prepared.Contents(), min(t.Stable.Entries, o.stable))
	if !overLimit {
		o.tally.recallTokens += more.tokens()
	}
	billed := o.bill.request(t, !overLimit || o.sendable[t.Turn], whole, more)
	t.AfterCompress, t.Unpruned = billed.sent, billed.nothing
	o.tally.Count(t)
	point := Point{
		Turn: t.Turn, Entry: t.Entry, Sent: t.AfterCompress, Unpruned: t.Unpruned,
		OverLimit: overLimit, USD: billed.usd,
	}
	if o.held != nil {
		// Those of the last turn stay: settings do not change within a replay.
		limits := t.Prepared.Outcome.Limits
		o.limits = &limits
		if t.Boundary {
			o.sent = 0 // a new session, in which nothing was sent
		}
		// The stable entries count from the last request that was sent; requests between were not sent.
		o.held.send(t.Prepared.Contents(), min(t.Stable.Entries, o.stable))
		o.stable = min(t.Stable.Entries, o.stable)
		if !overLimit {
			point.Rewrite = t.Stable.Entries < o.sent
			o.sent = len(t.Prepared.Contents())
			o.stable = o.sent
		}
	}
	if point.Rewrite {
		o.tally.rewrites++
	}
	o.points = append(o.points, point)
	// What the recorded answer used is compared with what this request still held.
	used := o.rec.uses[t.Turn-1]
	o.recall(used.words, t.Turn)
	o.lacking = o.needed(used.calls)
	o.reread(used.repeats)
	if v, ok := o.own.turn(o.rec.own[t.Turn-1], o.held); ok {
		o.tally.own.add(ownTally{requests: 1, sum: v, worst: v})
	}
	if o.attribution != nil {
		o.attribution.turn(t)
	}
}

// recall counts how many of the words that the answer used were in the request, and notes the first that were not.
func (o *observer) recall(words []usedWord, turn int) {
	r := &o.tally.recall
	for _, u := range words {
		r.Used++
		if u.onlyResults {
			r.UsedResults++
		}
		if u.onLine {
			r.UsedLines++
			if o.held.holds(o.rec.lined(u.word)) {
				r.KeptLines++
			}
		}
		switch {
		case o.held.holds(u.word):
			r.Kept++
			if u.onlyResults {
				r.KeptResults++
			}
		case len(r.Lost) < MaxLost:
			r.Lost = append(r.Lost, Lost{
				Identifier: o.rec.names[u.word], Session: o.rec.name, Turn: turn,
				Entry: int(u.entry), From: int(u.from),
			})
		}
	}
}

// reread counts the repeated calls whose earlier results were no longer in the request.
func (o *observer) reread(calls []repeatedCall) {
	// A call that the recorded agent made again although it had the result is no loss of the strategy's.
	for _, c := range calls {
		if !o.held.holds(c.group) {
			o.tally.rereads.Calls++
			o.tally.rereads.Tokens += c.tokens
		}
	}
}

// finishReplay is finish with the hard limit of the last turn; without turns there is nothing to count.
func (o *observer) finishReplay() {
	if o.limits == nil {
		return
	}
	o.finish(o.limits.Hard, o.setWindow)
	for i, l := range o.bill.lists {
		if l == nil {
			continue
		}
		c := &o.tally.costs[i]
		c.Best = c.Answers + (c.Nothing-c.Answers)*o.rec.best.share(l, float64(o.limits.Hard))
	}
}

// finish counts the requests that would have failed if nothing had been done, among those that were replayed: see
// [replay.Request.Fails].
func (o *observer) finish(hard int, set bool) {
	for _, q := range o.rec.Requests[:o.tally.Turns] {
		if q.Fails(hard, set) {
			o.tally.unprunedOverLimit++
		}
	}
}
