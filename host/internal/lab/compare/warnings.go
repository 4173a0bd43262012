package compare

import (
	"fmt"
	"slices"
	"strings"
)

// Warnings returns sentences about what could be misread in the totals, for people. Most reports have at least the
// dates of the prices.
func (r *Report) Warnings() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if r.Incomplete {
		add("the comparison was stopped before its end: variants have figures of different sessions")
	}
	if n := r.Totals.Nothing.OverLimit; n > 0 {
		add(
			"nothing: %d of %d requests are over the context limit and would have failed; priced as in a larger window",
			n, r.Totals.Nothing.Turns,
		)
	}
	for i := range r.Totals.Variants {
		v := &r.Totals.Variants[i]
		// A request that fails costs nothing, which would look like a saving.
		if v.OverLimit > 0 {
			add("%s: %d of %d requests are still over the context limit; they cost nothing, here and in what it is "+
				"compared with",
				v.Variant, v.OverLimit, v.Turns)
		}
		if !v.Done && v.Turns > 0 {
			add(
				"%s: the figures are those of %d of %d sessions; compare shares, not sums", v.Variant,
				v.Sessions, len(r.Sessions),
			)
		}
		if v.LLM != nil {
			add(
				"%s: its cost includes its own model calls, %d with %d tokens%s", v.Variant, v.LLM.Calls,
				v.LLM.InputTokens+v.LLM.OutputTokens, modelCost(v),
			)
		}
	}
	r.uncounted(add)
	// Without times it is unknown whether the prompt cache had expired between two requests.
	untimed := 0
	for _, s := range r.Sessions {
		if !s.Timed && s.Entries > 0 {
			untimed++
		}
	}
	if untimed > 0 && len(r.Prices) > 0 {
		add("%d of %d sessions have no times: the prompt cache is assumed to stay warm in them",
			untimed, len(r.Sessions))
	}
	if dates := r.priceDates(); dates != "" {
		add("prices as of %s", dates)
	}
	return out
}

// uncounted says what the figures leave out because the recordings do not have it.
func (r *Report) uncounted(add func(format string, args ...any)) {
	plain, unbilled, foreign := 0, 0, 0
	for _, s := range r.Sessions {
		switch {
		case s.Entries == 0:
		case s.Billed == 0:
			plain++
		default:
			unbilled += s.Nothing.Turns - s.Billed
		}
		if s.Entries > 0 && s.Prices == "" && r.ByModel {
			foreign++
		}
	}
	if plain > 0 {
		add("%d of %d sessions have no usage: tool schemas, answers, and system prompts that are not recorded are not "+
			"counted in them", plain, len(r.Sessions))
	}
	if unbilled > 0 {
		add("%d requests have no usage recorded and count as 0 tokens", unbilled)
	}
	if foreign > 0 && len(r.Prices) > 0 {
		l := r.Prices[0].Name
		if l == OwnModel {
			l = r.Other
		}
		add("%d of %d sessions have a model without a price list: they are priced by %s", foreign, len(r.Sessions), l)
	}
}

func modelCost(v *Result) string {
	var costs []string
	for _, c := range v.Costs {
		costs = append(costs, fmt.Sprintf("%.4f USD by %s", c.Model, c.List))
	}
	// Without a price list there is no cost to name; the tokens are named all the same.
	if len(costs) == 0 {
		return ""
	}
	return " (" + strings.Join(costs, ", ") + ")"
}

// priceDates returns the day or the range of days on which the prices were looked up. Days are in ISO form, which
// sorts as text.
func (r *Report) priceDates() string {
	var days []string
	for _, l := range r.Prices {
		if l.AsOf != "" {
			days = append(days, l.AsOf)
		}
	}
	if len(days) == 0 {
		return ""
	}
	if first, last := slices.Min(days), slices.Max(days); first != last {
		return first + " to " + last
	}
	return days[0]
}
