package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

// Recommendation says which variant would have been the cheapest of those that keep enough, by one price list.
type Recommendation struct {
	PriceList string `json:"priceList"`
	// MinRecall is what [Result.Kept] had to be.
	MinRecall float64 `json:"minRecall"`
	// Variant is one of [Report.Variants]; "" if doing nothing is best.
	Variant string `json:"variant"`
	// Settings are what to set to get it, by key; nil for doing nothing.
	Settings map[string]string `json:"settings,omitempty"`
	// Relative is the cost against doing nothing, below 0 if it is cheaper; Dearest that of the session with the
	// highest.
	Relative float64 `json:"relative"`
	Dearest  Spread  `json:"dearest"`
	// PerSession is what would have been saved in USD in a session on average, PerMonth in thirty days at the rates at
	// which the sessions of each agent were recorded; 0 if that is not known.
	PerSession float64 `json:"perSessionUsd"`
	PerMonth   float64 `json:"perMonthUsd,omitempty"`
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
}

// Headline says what the comparison comes to, without a full stop. name and recall write the names of variants and
// price lists, and shares, as the reader's medium has them.
func (x *Recommendation) Headline(name func(string) string, recall func(float64) string) string {
	floor := recall(x.MinRecall) + " of " + WhatIsKept
	prices := name(x.PriceList) + "'s prices"
	if x.PriceList == OwnModel {
		prices = "the prices of each session's own model"
	}
	switch {
	case x.Variant == "" && x.Needed: // the recorded requests are larger than the context limit
		return "Requests do not fit into the model without a strategy, and none that was compared fits them and keeps " +
			"at least " + floor
	case x.Variant == "":
		return "Doing nothing is best at " + prices + ": no strategy that was compared is cheaper and keeps at least " + floor
	default:
		variant := name(strings.TrimSuffix(x.Variant, " ("+x.PriceList+")"))
		return "Of those that keep at least " + floor + ", " + variant + " is the cheapest at " + prices
	}
}

// WhatIsKept says of what [Result.Kept] is a share.
const WhatIsKept = "the lines that later turns used and of the agent's own words and edits"

// Left says how often the choice held in a session that was left out of it, and which sessions it is not about;
// without a full stop, "" if there is nothing to say.
func (x *Recommendation) Left() string {
	var parts []string
	if x.Of > 1 && x.Variant != "" {
		parts = append(parts, fmt.Sprintf("Chosen from any %d of the %d sessions, it was right for the one left out %s",
			x.Of-1, x.Of, times(x.Held, x.Of)))
	}
	const named = 3
	if more := len(x.Unfit) - named; more > 0 {
		parts = append(parts, fmt.Sprintf("No strategy fits %s and %d more", strings.Join(x.Unfit[:named], ", "), more))
	} else if len(x.Unfit) > 0 {
		parts = append(parts, "No strategy fits "+strings.Join(x.Unfit, ", "))
	}
	return strings.Join(parts, ". ")
}

func times(n, of int) string {
	if n == of {
		return "every time"
	}
	return fmt.Sprintf("%d times", n)
}

// month is what [Recommendation.PerMonth] is for, and minSpan the time that sessions must cover to tell a rate.
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
			break
		}
	}
	return out
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
	saved := cost.Nothing - cost.USD
	x.PerSession, x.PerMonth = saved/float64(max(v.Sessions, 1)), r.perMonth(i, x.PriceList)
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
	if !r.ByModel {
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

// perMonth returns what variant i would have saved in thirty days, in USD. Each agent has a rate of its own, and the
// rates add up: sessions of an agent that is used daily would otherwise be spread over the months of one that is not.
// An agent counts if its sessions have times and cover a day.
func (r *Report) perMonth(i int, list string) (usd float64) {
	of := map[transcript.Format][]SessionReport{}
	for _, s := range r.Sessions {
		of[s.Format] = append(of[s.Format], s)
	}
	for _, agent := range slices.Sorted(maps.Keys(of)) { // sums of floats depend on their order
		sessions := of[agent]
		span := spanOf(sessions)
		if span < minSpan {
			continue
		}
		for _, s := range sessions {
			cost, _ := s.Variants[i].Cost(list)
			usd += (cost.Nothing - cost.USD) * float64(month) / float64(span)
		}
	}
	return usd
}
