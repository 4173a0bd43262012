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
		Unread: c.options.Unread,
		Prices: c.options.Prices, Variants: []VariantInfo{}, Sessions: []SessionReport{},
		Totals: Results{Variants: []Result{}}, ByModel: c.options.ByModel,
	}
	nothing := newSummary(NothingName, c.options.Prices)
	summaries := make([]summary, len(c.variants))
	for j, v := range c.variants {
		r.Variants = append(r.Variants, v.VariantInfo)
		summaries[j] = newSummary(v.Name, v.lists)
	}
	for i, s := range c.options.Sessions {
		session := SessionReport{Name: s.Name, Format: s.Transcript.Format, Entries: len(s.Transcript.Entries),
			Plan: s.Transcript.Plan, Elsewhere: s.Transcript.Elsewhere}
		for _, u := range s.Transcript.Usage {
			session.RecordedUSD += u.USD
		}
		session.RecordedUSD = cents(session.RecordedUSD)
		session.Results = Results{Variants: make([]Result, 0, len(c.variants))}
		var untouched slot
		if rec := c.recordings[i]; rec != nil {
			session.Tokens, session.Timed, session.Boundaries = rec.tokens(), rec.Timed(), rec.boundaries()
			session.First, session.Last = rec.span()
			session.Model, session.Billed, session.Window = s.Transcript.Model, rec.billed(), rec.Window
			l, lacking := rec.prices.own(s.Transcript)
			if session.Unlisted = lacking; l != nil {
				session.Prices = l.Name
			}
			untouched = c.untouched(rec, c.slots[i])
		}
		session.Nothing = untouched.result(NothingName, newTally(c.options.Prices))
		nothing.add(untouched, s.Name, &session.Nothing)
		r.Incomplete = r.Incomplete || !untouched.done
		for j, v := range c.variants {
			found := c.slots[i][j]
			session.Variants = append(session.Variants, found.result(v.Name, newTally(v.lists)))
			summaries[j].add(found, s.Name, &session.Variants[j])
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
	hard := rec.Window.Tokens - c.host.Config().Settings().Model.CompletionBudget
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
	o.finish(hard, rec.Window.By == replay.BySetting)
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
	name     string
	tally    *tally
	sessions []string // the names of those that were replayed to their ends
	results  []*Result
	of       int   // sessions
	missed   bool  // a session was not replayed, as the comparison was stopped
	failed   int   // sessions
	err      error // of the first that failed
}

func newSummary(name string, lists []*pricing.List) summary {
	return summary{name: name, tally: newTally(lists)}
}

// add adds a session with its slot and result.
func (s *summary) add(one slot, session string, r *Result) {
	s.of++
	switch {
	case one.err != nil:
		if s.failed++; s.failed == 1 {
			s.err = one.err
		}
	case !one.done:
		s.missed = true
	default:
		s.tally.add(one.found.tally)
		s.sessions, s.results = append(s.sessions, session), append(s.results, r)
	}
}

// spread returns how a measure differs between the sessions, at the price list k if it has those. Worse is what is
// higher or, of shares, lower. ok is false if no session counts.
func (s *summary) spread(m *Measure, k int) (out Spread, ok bool) {
	sum, n := 0.0, 0
	for i, r := range s.results {
		var c *Cost
		if m.PerList() {
			c = &r.Costs[k]
		}
		if !m.counts(r, c) {
			continue
		}
		v := m.value(r, c)
		if n == 0 || m.Kind == Kept && v < out.Worst || m.Kind != Kept && v > out.Worst {
			out.Worst, out.Session = v, s.sessions[i]
		}
		sum, n = sum+v, n+1
	}
	out.Mean = sum / float64(max(n, 1))
	return out, n > 0
}

// result returns the totals. The error is the first one, with the number of sessions that failed unless all did.
func (s *summary) result() Result {
	r := s.tally.result(s.name)
	r.PerSession = map[string]Spread{}
	for i := range Measures {
		switch m := &Measures[i]; {
		case m.Worst == 0:
		case m.PerList():
			for k := range r.Costs {
				if found, ok := s.spread(m, k); ok {
					r.Costs[k].PerSession = &found
				}
			}
		default:
			if found, ok := s.spread(m, 0); ok {
				r.PerSession[m.Name] = found
			}
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
