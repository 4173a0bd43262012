package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/table"
)

// KeyThreshold is the setting that says how much of a context window is used.
const KeyThreshold = "compression.threshold"

// Window says what it costs and loses to use a share of the context windows.
type Window struct {
	// Share is the value of [KeyThreshold]; 0 if it is not set, and the strategy or the prices say when to compress.
	Share   float64 `json:"share"`
	Variant string  `json:"variant"`
	// Relative is the cost against doing nothing, by the first price list. Lines and Own are shares that are kept.
	Relative float64 `json:"relative"`
	Lines    float64 `json:"lines"`
	Own      float64 `json:"own"`
	// OverLimit is how many requests do not fit the model.
	OverLimit int `json:"overLimit,omitempty"`
}

// ByWindow returns what each share of the context windows came to, of variants that differ in it alone: the cheapest
// first, of those that leave the fewest requests over the limit, then the others by their shares. It is nil without
// prices, and of an incomplete report.
func (r *Report) ByWindow() []Window {
	if len(r.Prices) == 0 || r.Incomplete {
		return nil
	}
	list, least := r.Prices[0].Name, -1
	var out []Window
	for i := range r.Variants {
		v := &r.Totals.Variants[i]
		cost, priced := v.Cost(list)
		if !priced || !v.Done {
			continue
		}
		share, _ := strconv.ParseFloat(r.Variants[i].Settings[KeyThreshold], 64) // 0 if it is not set
		out = append(out, Window{share, v.Variant, cost.Relative, v.Recall.ShareLines, v.Own.Share, v.OverLimit})
		if least < 0 || v.OverLimit < r.Totals.Variants[least].OverLimit ||
			v.OverLimit == r.Totals.Variants[least].OverLimit && r.better(i, least, list) {
			least = i
		}
	}
	slices.SortStableFunc(out, func(a, b Window) int {
		switch cheapest := r.Totals.Variants[least].Variant; cheapest {
		case a.Variant:
			return -1
		case b.Variant:
			return 1
		}
		return cmp.Compare(a.Share, b.Share)
	})
	return out
}

// windows says which window is cheapest, at what loss, and what the others come to. What is equal is said once.
func (r *Report) windows() string {
	says := func(w Window, format string) string {
		text := fmt.Sprintf(format, against(w.Relative), Kept.Text(w.Lines), Kept.Text(w.Own))
		if w.OverLimit > 0 {
			text += fmt.Sprintf(" (%s too large)", Counted(w.OverLimit, "request"))
		}
		return text
	}
	var parts, shares []string
	for i, w := range r.Windows {
		share := "its own moment"
		if w.Share > 0 {
			share = strconv.FormatFloat(w.Share, 'f', -1, 64)
		}
		if i == 0 {
			if w.Relative > -minGain {
				share = "doing nothing is cheapest, then " + share
			} else {
				share += " is cheapest"
			}
			parts = append(parts, says(w, share+": %s than doing nothing, keeps %s of the lines and %s of the agent's own"))
			continue
		}
		const short = "%s, %s and %s"
		shares = append(shares, share)
		if i+1 == len(r.Windows) || says(w, short) != says(r.Windows[i+1], short) {
			parts, shares = append(parts, strings.Join(shares, ", ")+": "+says(w, short)), nil
		}
	}
	return "in " + r.window() + ", " + strings.Join(parts, "; ")
}

// window names the context window of the sessions, if they have the same.
func (r *Report) window() string {
	size := 0
	for i := range r.Sessions {
		for _, v := range r.Sessions[i].Variants {
			if v.Limits == nil {
				continue
			}
			if size > 0 && size != v.Limits.Context {
				return "each session's window"
			}
			size = v.Limits.Context
		}
	}
	return fmt.Sprintf("a window of %s tokens", table.Int(size))
}
