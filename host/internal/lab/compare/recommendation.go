package compare

import (
	"cmp"
	"strings"
	"time"
)

// Recommendation says which variant would have been the cheapest of those that keep enough, by one price list.
type Recommendation struct {
	// PriceList is the list.
	PriceList string `json:"priceList"`
	// MinRecall is the recall that was asked for, as a share.
	MinRecall float64 `json:"minRecall"`
	// Variant is one of [Report.Variants]; "" if doing nothing is best.
	Variant string `json:"variant"`
	// Settings are what to set to get it, by key; nil for doing nothing.
	Settings map[string]string `json:"settings,omitempty"`
	// Relative is the cost against doing nothing, below 0 if it is cheaper; Dearest that of the session with the
	// highest.
	Relative float64 `json:"relative"`
	Dearest  Spread  `json:"dearest"`
	// PerSession is what would have been saved in USD in a session on average, PerMonth in thirty days at the rate at
	// which the sessions were recorded; 0 if that is not known.
	PerSession float64 `json:"perSessionUsd"`
	PerMonth   float64 `json:"perMonthUsd,omitempty"`
	// Recall is over all sessions, Worst in the session with the lowest.
	Recall float64 `json:"recall"`
	Worst  Spread  `json:"worst"`
	// Needed says that doing nothing is no choice: requests would not have fitted into the model.
	Needed bool `json:"needed,omitempty"`
}

// Headline says what the comparison comes to, without a full stop. name and recall write the names of variants and
// price lists, and recalls, as the reader's medium has them.
func (x *Recommendation) Headline(name func(string) string, recall func(float64) string) string {
	floor := "with a recall of at least " + recall(x.MinRecall)
	switch list := name(x.PriceList); {
	case x.Variant == "" && x.Needed: // the recorded requests are larger than the context limit
		return "Requests do not fit into the model without a strategy, and none that was compared fits them " + floor
	case x.Variant == "":
		return "Doing nothing is best at " + list + "'s prices: no strategy that was compared is cheaper " + floor
	default:
		variant := name(strings.TrimSuffix(x.Variant, " ("+x.PriceList+")"))
		return variant + " is the cheapest at " + list + "'s prices " + floor
	}
}

// month is what [Recommendation.PerMonth] is for, and leastSpan the time that sessions must cover to tell a rate.
const month, leastSpan = 30 * 24 * time.Hour, 24 * time.Hour

// leastGain is the relative saving below which doing nothing is better: less to set up, and nothing lost.
const leastGain = 0.005

// Recommend returns what the totals say by the first price list, for at least a recall of minRecall (a share); nil
// without a price list, and if no variant ran through all sessions.
func (r *Report) Recommend(minRecall float64) *Recommendation {
	if len(r.Prices) == 0 || r.Incomplete {
		return nil
	}
	list := r.Prices[0].Name
	out := &Recommendation{PriceList: list, MinRecall: minRecall, Recall: 1, Worst: Spread{Mean: 1, Worst: 1},
		Needed: r.Totals.Nothing.OverLimit > 0}
	ran, best := false, -1
	for i := range r.Totals.Variants {
		v := &r.Totals.Variants[i]
		cost, priced := v.Cost(list)
		if !v.Done || !priced {
			continue
		}
		ran = true
		switch {
		case v.Recall.Share < minRecall, v.OverLimit > 0:
		// Where doing nothing is no choice, a variant may also be dearer than it.
		case !out.Needed && cost.Relative > -leastGain:
		case best < 0 || r.better(i, best, list):
			best = i
		}
	}
	if best >= 0 {
		out.take(r, best)
	}
	if !ran {
		return nil
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
	return cmp.Or(cmp.Compare(costA.USD, costB.USD), cmp.Compare(b.Recall.Share, a.Recall.Share),
		cmp.Compare(a.Rewrites, b.Rewrites), cmp.Compare(r.Variants[k].PriceList, r.Variants[i].PriceList)) < 0
}

// take makes variant i the recommended one.
func (x *Recommendation) take(r *Report, i int) {
	v := &r.Totals.Variants[i]
	cost, _ := v.Cost(x.PriceList)
	x.Variant, x.Settings = v.Variant, r.Variants[i].set(x.PriceList)
	x.Relative, x.Recall = cost.Relative, v.Recall.Share
	if v.PerSession != nil {
		x.Worst = v.PerSession.Recall
	}
	x.Dearest = Spread{Mean: cost.Relative, Worst: cost.Relative}
	if cost.PerSession != nil {
		x.Dearest = *cost.PerSession
	}
	saved := cost.Nothing - cost.USD
	x.PerSession = saved / float64(max(v.Sessions, 1))
	if r.Span >= leastSpan {
		x.PerMonth = saved * float64(month) / float64(r.Span)
	}
}

// KeepsMost returns the variant that kept most of what calls needed, for people whose agent should miss nothing: it
// need not be the recommended one. It is "" if fewer than two variants kept all requests under the limit: shares of
// different requests cannot be compared.
func (r *Report) KeepsMost() string {
	var best *Result
	fit := 0
	for i := range r.Totals.Variants {
		v := &r.Totals.Variants[i]
		if !v.Done || v.OverLimit > 0 {
			continue
		}
		fit++
		if best == nil || v.Needs.Share > best.Needs.Share {
			best = v
		}
	}
	if fit < 2 {
		return ""
	}
	return best.Variant
}

// set returns the settings that make a variant: its own, the strategy, and the price list by which it decides.
func (v *VariantInfo) set(list string) map[string]string {
	out := map[string]string{"compression.strategy": v.Strategy, keyPriceList: list}
	for key, value := range v.Settings {
		out[key] = value
	}
	return out
}

// spanOf returns the time from the first request of all sessions to the last one; 0 if times are missing.
func spanOf(recordings []*recording) time.Duration {
	var first, last time.Time
	for _, rec := range recordings {
		if rec == nil || !rec.Timed() {
			return 0
		}
		for _, q := range rec.Requests {
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
	}
	return last.Sub(first)
}
