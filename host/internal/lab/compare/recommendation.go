package compare

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Recommendation says which variant would have been the cheapest of those that keep enough, by one price list.
type Recommendation struct {
	PriceList string `json:"priceList"`
	// MinRecall is what [Result.Kept] had to be.
	MinRecall float64 `json:"minRecall"`
	// Variant is one of [Report.Variants]; "" if doing nothing is best, or nothing keeps enough.
	Variant string `json:"variant"`
	// Settings are what to set to get it, by key; nil for doing nothing.
	Settings map[string]string `json:"settings,omitempty"`
	// Relative is the cost against doing nothing, below 0 if it is cheaper; Dearest that of the session with the
	// highest.
	Relative float64 `json:"relative"`
	Dearest  Spread  `json:"dearest"`
	// PerSession is what would have been saved in USD in a session on average. Month is what it comes to in thirty
	// days; nil if that is not known.
	PerSession float64 `json:"perSessionUsd"`
	Month      *Month  `json:"month,omitempty"`
	// Recall, Lines and Own are over all sessions; Worst is the lower of Lines and Own in the session with the lowest.
	Recall float64 `json:"recall"`
	Lines  float64 `json:"lines"`
	Own    float64 `json:"own"`
	Worst  Spread  `json:"worst"`
	// Held is for how many of Of sessions the choice that the others make keeps enough in the session left out.
	Held int `json:"held"`
	Of   int `json:"of"`
	// Unfit are the sessions that no strategy fits; they decide nothing.
	Unfit []string `json:"unfit,omitempty"`
	// Needed says that doing nothing is no choice: requests would not have fitted into the model.
	Needed bool `json:"needed,omitempty"`
	// Closest is what to take if nothing keeps enough; nil with a variant, and if nothing is better than doing nothing.
	Closest *Closest `json:"closest,omitempty"`
}

// Taken is the variant that the figures are about: the one that is advised, else the closest; "" for none.
func (x *Recommendation) Taken() string {
	switch {
	case x == nil:
		return ""
	case x.Closest != nil:
		return x.Closest.Variant
	}
	return x.Variant
}

// Closest is the variant that keeps enough in the most sessions, of those that are cheaper than doing nothing or, where
// that does not fit, of all.
type Closest struct {
	Variant  string            `json:"variant"`
	Settings map[string]string `json:"settings"`
	Relative float64           `json:"relative"`
	// Held is in how many of Of sessions it keeps enough; Short are the others, the worst first.
	Held  int     `json:"held"`
	Of    int     `json:"of"`
	Short []Short `json:"short"`
}

// Short is a session that keeps too little.
type Short struct {
	Session string `json:"session"`
	// Kept is [Result.Kept]; OverLimit how many requests do not fit.
	Kept      float64 `json:"kept"`
	OverLimit int     `json:"overLimit,omitempty"`
}

// Month is what a variant would have saved in thirty days at the rate of a period: that of the sessions in the thirty
// days up to the newest request, all agents together.
type Month struct {
	USD float64 `json:"usd"`
	// Saved is what the Sessions from From to To would have saved.
	Saved    float64   `json:"savedUsd"`
	Sessions int       `json:"sessions"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
}

// month is what [Month] is for, and minSpan the time that sessions must cover to tell a rate.
const month, minSpan = 30 * 24 * time.Hour, 24 * time.Hour

// minGain is the relative saving below which doing nothing is better: less to set up, and nothing lost.
const minGain = 0.005

// Recommend returns what the sessions say by the first price list, for variants that keep at least minRecall
// ([Result.Kept]); nil without a price list, and if no variant ran through all sessions.
//
// A pooled share hides the sessions that lost most. So the share is asked for in nine of ten sessions, and the choice
// is tried on sessions that it was not made from: each is left out once, and for nine of ten of them the choice of the
// others must hold. Sessions that no variant fits decide nothing, and are named.
func (r *Report) Recommend(minRecall float64) *Recommendation {
	if len(r.Prices) == 0 || r.Incomplete {
		return nil
	}
	v := r.vote(minRecall)
	if len(v.variants) == 0 {
		return nil
	}
	out := &Recommendation{PriceList: v.list, MinRecall: minRecall, Recall: 1, Lines: 1, Own: 1,
		Worst: Spread{Mean: 1, Worst: 1}, Unfit: v.unfit}
	for _, s := range v.sessions {
		out.Needed = out.Needed || r.Sessions[s].Nothing.OverLimit > 0
	}
	// The second is for sessions that differ so much that nine of ten of them say little about another one.
	for _, share := range []float64{minHeld, 1} {
		best := v.choose(share, -1)
		if best < 0 {
			break
		}
		held := 0
		for _, s := range v.sessions {
			if i := v.choose(share, s); i < 0 || len(v.sessions) == 1 || v.holds(i, s) {
				held++
			}
		}
		if enough(held, len(v.sessions), minHeld) {
			out.take(r, best)
			out.Held, out.Of = held, len(v.sessions)
			return out
		}
	}
	if i := v.closest(); i >= 0 {
		out.Closest = r.closest(v, i)
	}
	return out
}

// closest says where variant i keeps too little.
func (r *Report) closest(v *vote, i int) *Closest {
	cost, _ := r.Totals.Variants[i].Cost(v.list)
	c := &Closest{Variant: r.Variants[i].Name, Settings: r.settings(i, v.list), Relative: cost.Relative,
		Of: len(v.sessions), Short: []Short{}}
	for _, s := range v.sessions {
		if v.holds(i, s) {
			c.Held++
			continue
		}
		one := &r.Sessions[s].Variants[i]
		c.Short = append(c.Short, Short{r.Sessions[s].Name, one.Kept, one.OverLimit})
	}
	slices.SortStableFunc(c.Short, func(a, b Short) int {
		return cmp.Or(cmp.Compare(b.OverLimit, a.OverLimit), cmp.Compare(a.Kept, b.Kept))
	})
	return c
}

// better reports whether to recommend variant i rather than variant k. In short sessions many cost the same to the
// cent: then what keeps more counts, then what breaks the prompt cache less often, then what decides by prices (only
// that has a price list of its own), as sessions to come may be longer.
func (r *Report) better(i, k int, list string) bool {
	a, b := &r.Totals.Variants[i], &r.Totals.Variants[k]
	costA, _ := a.Cost(list)
	costB, _ := b.Cost(list)
	return cmp.Or(cmp.Compare(costA.USD, costB.USD), cmp.Compare(b.Kept, a.Kept),
		cmp.Compare(a.Rewrites, b.Rewrites), cmp.Compare(r.Variants[k].PriceList, r.Variants[i].PriceList)) < 0
}

func (x *Recommendation) take(r *Report, i int) {
	v := &r.Totals.Variants[i]
	cost, _ := v.Cost(x.PriceList)
	x.Variant, x.Settings = v.Variant, r.settings(i, x.PriceList)
	x.Relative, x.Recall, x.Lines, x.Own = cost.Relative, v.Recall.Share, v.Recall.ShareLines, v.Own.Share
	if kept, ok := v.PerSession["kept"]; ok {
		x.Worst = kept
	}
	x.Dearest = Spread{Mean: cost.Relative, Worst: cost.Relative}
	if cost.PerSession != nil {
		x.Dearest = *cost.PerSession
	}
	x.PerSession, x.Month = v.SavedPerSession(x.PriceList), r.month(i, x.PriceList)
}

// minSaved is the share of tokens that a variant must save to be worth a word.
const minSaved = 0.05

// KeepsMost returns the variant that kept most ([Result.Kept]), of those that save anything worth it,
// for people whose agent should miss nothing: it need not be the recommended one. It is "" if fewer than two variants
// kept all requests under the limit: shares of different requests cannot be compared.
func (r *Report) KeepsMost() string {
	var best *Result
	fit := 0
	for i := range r.Totals.Variants {
		v := &r.Totals.Variants[i]
		if !v.Done || v.OverLimit > 0 {
			continue
		}
		fit++
		if v.Saved >= minSaved && (best == nil || v.Kept > best.Kept) {
			best = v
		}
	}
	if fit < 2 || best == nil {
		return ""
	}
	return best.Variant
}

// settings returns the settings that make variant i: its own, the strategy, and the price list by which it decides
// unless a session finds that by its model's name.
func (r *Report) settings(i int, list string) map[string]string {
	v := &r.Variants[i]
	out := map[string]string{"compression.strategy": v.Strategy}
	// Prices of another model are not set: they would hold for all sessions.
	if !r.ByModel && !slices.ContainsFunc(r.Sessions, func(s SessionReport) bool { return s.Model != "" && s.Prices != list }) {
		out[keyPriceList] = list
	}
	maps.Copy(out, v.Settings)
	return out
}

// span returns when the first and the last request of the session were made; zero if times are missing.
func (r *recording) span() (first, last time.Time) {
	for _, q := range r.Requests {
		if q.At.IsZero() {
			continue
		}
		if first.IsZero() || q.At.Before(first) {
			first = q.At
		}
		if q.At.After(last) {
			last = q.At
		}
	}
	return first, last
}

// spanOf returns the time from the first request of the sessions to the last one; 0 if a session has no times.
func spanOf(sessions []SessionReport) time.Duration {
	var first, last time.Time
	for _, s := range sessions {
		if s.First.IsZero() {
			return 0
		}
		if first.IsZero() || s.First.Before(first) {
			first = s.First
		}
		if s.Last.After(last) {
			last = s.Last
		}
	}
	return last.Sub(first)
}

// month returns what variant i would have saved in thirty days; nil if the sessions have no times or cover less than a
// day. An older session says nothing about a month.
func (r *Report) month(i int, list string) *Month {
	m := &Month{}
	for _, s := range r.Sessions {
		if s.Last.After(m.To) {
			m.To = s.Last
		}
	}
	for _, s := range r.Sessions {
		cost, priced := s.Variants[i].Cost(list)
		if !priced || s.First.IsZero() || m.To.Sub(s.First) > month {
			continue
		}
		if m.From.IsZero() || s.First.Before(m.From) {
			m.From = s.First
		}
		m.Sessions, m.Saved = m.Sessions+1, m.Saved+cost.Nothing-cost.USD
	}
	span := m.To.Sub(m.From)
	if m.Sessions == 0 || span < minSpan {
		return nil
	}
	m.USD = m.Saved * float64(month) / float64(span)
	return m
}
