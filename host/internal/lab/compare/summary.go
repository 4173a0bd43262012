package compare

import (
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// report assembles the report from the slots. It runs after all replays, on one goroutine, and goes through sessions
// and variants in their order, so the report does not depend on which replay ended first.
func (c *comparison) report() *Report {
	r := &Report{
		Prices: c.options.Prices, Variants: []VariantInfo{}, Sessions: []SessionReport{},
		Totals: Results{Variants: []Result{}}, ByModel: c.options.ByModel,
	}
	if c.options.Other != nil {
		r.Other = c.options.Other.Name
	}
	nothing := newSummary(NothingName, c.options.Prices)
	summaries := make([]summary, len(c.variants))
	for j, v := range c.variants {
		r.Variants = append(r.Variants, v.VariantInfo)
		summaries[j] = newSummary(v.Name, v.lists)
	}
	for i, s := range c.options.Sessions {
		session := SessionReport{Name: s.Name, Format: s.Transcript.Format, Entries: len(s.Transcript.Entries)}
		session.Results = Results{Variants: []Result{}}
		var untouched slot
		if rec := c.recordings[i]; rec != nil {
			session.Tokens, session.Timed, session.Boundaries = rec.tokens(), rec.Timed(), rec.boundaries()
			session.First, session.Last = rec.span()
			session.Model, session.Billed = s.Transcript.Model, rec.billed()
			if l := rec.prices.model(session.Model); l != nil {
				session.Prices = l.Name
			}
			untouched = c.untouched(rec, c.slots[i])
		}
		session.Nothing = untouched.result(NothingName, newTally(c.options.Prices))
		nothing.add(untouched, session.Nothing.Kept())
		r.Incomplete = r.Incomplete || !untouched.done
		for j, v := range c.variants {
			found := c.slots[i][j]
			session.Variants = append(session.Variants, found.result(v.Name, newTally(v.lists)))
			summaries[j].add(found, session.Variants[j].Kept())
			// A replay that failed has an error to show. One without either was not run.
			r.Incomplete = r.Incomplete || !found.done && found.err == nil
		}
		r.Sessions = append(r.Sessions, session)
	}
	r.Totals.Nothing, r.Span = nothing.result(), spanOf(r.Sessions)
	for _, s := range summaries {
		r.Totals.Variants = append(r.Totals.Variants, s.result())
	}
	return r
}

// untouched folds the turns of doing nothing, which needs no replay: the requests are the recorded ones. The limit
// comes from the host's settings, since no variant's settings apply. What neither doing nothing nor any of the variants
// could send costs nothing.
func (c *comparison) untouched(rec *recording, variants []slot) slot {
	hard := replay.ContextLimit(c.host, rec.Transcript) - c.host.Config().Settings().Model.CompletionBudget
	o := observe(rec, c.options.Prices)
	o.bill.untouched, o.sendable = true, map[int]bool{}
	for _, v := range variants {
		if v.found == nil {
			continue
		}
		for _, p := range v.found.points {
			o.sendable[p.Turn] = o.sendable[p.Turn] || !p.OverLimit
		}
	}
	for t := range rec.Untouched(hard) {
		o.turn(t)
	}
	o.finish(hard)
	return slot{found: o, done: true}
}

// result returns the result of one slot. none is an empty tally with the right price lists, for a slot without
// figures.
func (s slot) result(variant string, none *tally) Result {
	r := none.result(variant)
	if s.found != nil {
		r = s.found.tally.result(variant)
		r.Limits, r.Points, r.Steps = s.found.limits, s.found.points, s.found.steps
	}
	r.Done = s.done
	if s.err != nil {
		r.Error = s.err.Error()
	}
	return r
}

// summary adds up the sessions of one variant that were replayed to their ends. Sessions that failed are left out:
// half a session would lower the sums and look like savings.
type summary struct {
	name   string
	tally  *tally
	of     int   // sessions
	missed bool  // a session was not replayed, as the comparison was stopped
	failed int   // sessions
	err    error // of the first that failed

	recall, lines, kept, needs, edits spread
	costs                             []spread // by price list, against doing nothing; without a list there are none
}

func newSummary(name string, lists []*pricing.List) summary {
	return summary{name: name, tally: newTally(lists), costs: make([]spread, len(lists))}
}

type spread struct {
	sum   float64
	n     int
	worst Spread
}

// of adds the share that one session kept, unless nothing was counted in it.
func (s *spread) of(session string, kept, of int) {
	if of > 0 {
		s.share(session, share(kept, of))
	}
}

func (s *spread) share(session string, v float64) { s.add(session, v, v < s.worst.Worst) }

// cost adds what one session cost against doing nothing, unless that cost nothing.
func (s *spread) cost(session string, c Cost) {
	if c.Nothing > 0 {
		s.add(session, c.relative(), c.relative() > s.worst.Worst)
	}
}

// add adds the value of one session. worse: no other value was worse.
func (s *spread) add(session string, v float64, worse bool) {
	if s.n == 0 || worse {
		s.worst = Spread{Worst: v, Session: session}
	}
	s.sum += v
	s.n++
}

// result returns the spread; without any session nothing was lost.
func (s *spread) result() Spread {
	if s.n == 0 {
		return Spread{Mean: 1, Worst: 1}
	}
	out := s.worst
	out.Mean = s.sum / float64(s.n)
	return out
}

// add adds the slot of one more session; kept is [Result.Kept] of its result.
func (s *summary) add(one slot, kept float64) {
	s.of++
	switch {
	case one.err != nil:
		if s.failed++; s.failed == 1 {
			s.err = one.err
		}
	case !one.done:
		s.missed = true
	default:
		t := one.found.tally
		s.tally.add(t)
		session := one.found.rec.name
		s.recall.of(session, t.recall.Kept, t.recall.Used)
		s.lines.of(session, t.recall.KeptLines, t.recall.UsedLines)
		s.kept.share(session, kept)
		s.needs.of(session, t.needs.Kept, t.needs.Calls)
		s.edits.of(session, t.needs.KeptEdits, t.needs.Edits)
		for i, c := range t.costs {
			s.costs[i].cost(session, c)
		}
	}
}

// result returns the totals. The error is the first one, with the number of sessions that failed unless all did.
func (s *summary) result() Result {
	r := s.tally.result(s.name)
	r.PerSession = &PerSession{Recall: s.recall.result(), Lines: s.lines.result(), Kept: s.kept.result(),
		Needs: s.needs.result(), Edits: s.edits.result()}
	for i := range r.Costs {
		if s.costs[i].n > 0 {
			spread := s.costs[i].result()
			r.Costs[i].PerSession = &spread
		}
	}
	r.Done = s.failed == 0 && !s.missed
	switch {
	case s.failed == 0:
	case s.failed == s.of:
		r.Error = s.err.Error()
	default:
		r.Error = fmt.Sprintf("%d of %d sessions failed, the first: %v", s.failed, s.of, s.err)
	}
	return r
}
