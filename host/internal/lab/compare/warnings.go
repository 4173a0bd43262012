package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/table"
	"github.com/thresh-dev/thresh/internal/text"
)

// Warnings returns sentences about what could be misread in the totals, for people. Most reports have at least the
// dates of the prices.
func (r *Report) Warnings() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if r.Incomplete {
		add("the comparison was stopped before its end: variants have figures of different sessions")
	}
	if r.Unread > 0 {
		add("the sums lack %s that cannot be read", Counted(r.Unread, "session"))
	}
	if n := r.Totals.Nothing.OverLimit; n > 0 {
		text := "nothing: %d of %d requests are over the context limit and would have failed"
		if len(r.Prices) > 0 {
			text += "; priced as in a larger window"
		}
		add(text, n, r.Totals.Nothing.Turns)
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
	r.unknownWindows(add)
	r.uncounted(add)
	r.unpriced(add)
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
	plain, unbilled, elsewhere := 0, 0, 0
	for _, s := range r.Sessions {
		elsewhere += s.Elsewhere
		switch {
		case s.Entries == 0:
		case s.Billed == 0:
			plain++
		default:
			unbilled += s.Nothing.Turns - s.Billed
		}
	}
	if elsewhere > 0 {
		add("%d requests are another session's, which is repeated: each is counted in the session that made it", elsewhere)
	}
	if plain > 0 {
		add("%d of %d sessions have no usage: tool schemas, and answers and system prompts that are not recorded, are "+
			"not counted in them", plain, len(r.Sessions))
	}
	if unbilled > 0 {
		add("%d requests have no usage recorded and count as 0 tokens", unbilled)
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

// priceDates returns the day or the range of days on which the prices were looked up.
func (r *Report) priceDates() string {
	var days []string
	for _, l := range r.Prices {
		days = append(days, l.AsOf)
	}
	return fromTo(days)
}

// unpriced says of which sessions no prices are known, and what to add.
func (r *Report) unpriced(add func(format string, args ...any)) {
	if len(r.Prices) > 0 && r.Prices[0].Name != OwnModel || len(r.Prices) == 0 && !r.ByModel {
		return
	}
	type group struct {
		sessions, tokens int
		usd              float64
	}
	groups, models, lacking := map[string]group{}, []string(nil), 0
	for _, s := range r.Sessions {
		if s.Prices != "" || s.Entries == 0 {
			continue
		}
		g, ok := groups[s.Unlisted]
		if !ok {
			models = append(models, s.Unlisted)
		}
		groups[s.Unlisted] = group{g.sessions + 1, g.tokens + s.Nothing.Sent, g.usd + s.RecordedUSD}
		lacking++
	}
	switch {
	case lacking == 0:
		return
	case len(r.Prices) == 0:
		add("no prices are known: nothing is priced, and nothing is advised")
	default:
		add("costs are those of %d of %d sessions: of the others no prices are known", len(r.Sessions)-lacking,
			len(r.Sessions))
	}
	for _, m := range models {
		of := fmt.Sprintf("%s, %s tokens", Counted(groups[m].sessions, "session"), table.Int(groups[m].tokens))
		if usd := groups[m].usd; usd > 0 {
			of += fmt.Sprintf(", %.4f USD as recorded", usd)
		}
		if m == "" {
			add("no model is named: %s; --prices LIST prices all sessions by a list", of)
			continue
		}
		add("%s has no price list: %s; this line adds one, below \"lists:\" in the file of model.priceFile: %s",
			clipped(m), of, listLine(m))
	}
}

// listLine is a price list in the form of a file of prices, to be completed.
func listLine(model string) string {
	return fmt.Sprintf("- {name: %[1]s, models: [%[1]s], input: USD, cacheRead: USD, cacheWrite: USD, output: USD, "+
		"asOf: %[2]q, source: URL}", strconv.Quote(clipped(model)), "YYYY-MM-DD")
}

// unknownWindows says which windows are not known, and what is taken.
func (r *Report) unknownWindows(add func(format string, args ...any)) {
	var models []string
	for _, s := range r.Sessions {
		model := cmp.Or(clipped(s.Model), "sessions that name no model")
		if s.Window.By != "" || s.Entries == 0 || slices.Contains(models, model) {
			continue
		}
		models = append(models, model)
		add("the window of %s is not known: %s tokens are taken, unless --set model.contextLimit=N says another", model,
			table.Int(s.Window.Tokens))
	}
}

// clipped bounds a name that a recording gives.
func clipped(name string) string { return text.Printable(name, 80) }
