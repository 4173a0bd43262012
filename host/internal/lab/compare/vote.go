package compare

import (
	"cmp"
	"math"
)

// minHeld is the share of sessions in which a recommended variant must keep enough.
const minHeld = 0.9

// vote is what the sessions say about the variants at the first price list.
type vote struct {
	report   *Report
	floor    float64
	list     string
	variants []int // that ran through all sessions and are priced by the list
	sessions []int // that some variant fits
	unfit    []string
}

func (r *Report) vote(floor float64) *vote {
	v := &vote{report: r, floor: floor, list: r.Prices[0].Name}
	for i := range r.Totals.Variants {
		if _, priced := r.Totals.Variants[i].Cost(v.list); priced && r.Totals.Variants[i].Done {
			v.variants = append(v.variants, i)
		}
	}
	for s := range r.Sessions {
		fits := false
		for _, i := range v.variants {
			fits = fits || r.Sessions[s].Variants[i].OverLimit == 0
		}
		if fits {
			v.sessions = append(v.sessions, s)
		} else if len(v.variants) > 0 {
			v.unfit = append(v.unfit, r.Sessions[s].Name)
		}
	}
	return v
}

// holds reports whether variant i keeps enough in session s.
func (v *vote) holds(i, s int) bool {
	res := &v.report.Sessions[s].Variants[i]
	return res.OverLimit == 0 && res.Kept >= v.floor
}

// choose returns the cheapest variant that fits all sessions but the one left out, and keeps enough in a share of them;
// -1 if that is doing nothing. Where doing nothing is no choice, a variant may also be dearer than it.
func (v *vote) choose(share float64, without int) int {
	best, least := -1, 0.0
	for _, i := range v.variants {
		var usd, nothing float64
		held, of, fits, needed := 0, 0, true, false
		for _, s := range v.sessions {
			if s == without {
				continue
			}
			session := &v.report.Sessions[s]
			cost, _ := session.Variants[i].Cost(v.list)
			usd, nothing = usd+cost.USD, nothing+cost.Nothing
			fits = fits && session.Variants[i].OverLimit == 0
			needed = needed || session.Nothing.OverLimit > 0
			if of++; v.holds(i, s) {
				held++
			}
		}
		switch {
		case !fits || !enough(held, of, share) || !needed && usd > (1-minGain)*nothing:
		case best < 0 || usd < least || usd == least && v.report.better(i, best, v.list):
			best, least = i, usd
		}
	}
	return best
}

// closest returns the variant that keeps enough in the most sessions; of those, what leaves the fewest requests over
// the limit, what keeps more, and what costs less. It is -1 if that is doing nothing.
func (v *vote) closest() int {
	best, held := -1, map[int]int{}
	if len(v.sessions) == 0 {
		return best
	}
	for _, i := range v.variants {
		needed := false
		for _, s := range v.sessions {
			needed = needed || v.report.Sessions[s].Nothing.OverLimit > 0
			if v.holds(i, s) {
				held[i]++
			}
		}
		cost, _ := v.report.Totals.Variants[i].Cost(v.list)
		if !needed && cost.Relative > -minGain {
			continue
		}
		if best < 0 || v.nearer(i, best, held) {
			best = i
		}
	}
	return best
}

func (v *vote) nearer(i, k int, held map[int]int) bool {
	a, b := &v.report.Totals.Variants[i], &v.report.Totals.Variants[k]
	if c := cmp.Or(held[i]-held[k], b.OverLimit-a.OverLimit, cmp.Compare(a.Kept, b.Kept)); c != 0 {
		return c > 0
	}
	return v.report.better(i, k, v.list)
}

// enough reports whether held of so many are the share, as far as whole sessions can be.
func enough(held, of int, share float64) bool {
	return held >= int(math.Ceil(share*float64(of)-1e-9))
}
