package compare

import (
	"slices"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// OwnModel is the name of a column by which each session is priced at the prices of the models that it was recorded
// with. It has no prices itself.
const OwnModel = "own-model"

// RecordedPrices returns the columns for sessions at the prices of their own models: one list if all have that, else
// [OwnModel] if some have one. of finds the price list of a model, nil if there is none.
func RecordedPrices(of func(model string) *pricing.List, sessions []Session) []*pricing.List {
	p, lists := prices{of}, []*pricing.List(nil)
	for _, s := range sessions {
		if l, _ := p.own(s.Transcript); !slices.Contains(lists, l) {
			lists = append(lists, l)
		}
	}
	all := len(lists)
	lists = slices.DeleteFunc(lists, func(l *pricing.List) bool { return l == nil })
	if all < 2 {
		return lists
	}
	var days []string
	for _, l := range lists {
		days = append(days, l.AsOf)
	}
	return []*pricing.List{{Name: OwnModel, AsOf: fromTo(days), Note: "Each session at the prices of its own model."}}
}

// prices finds the price lists of models. The zero value knows none.
type prices struct {
	of func(model string) *pricing.List // nil if there is none
}

func (p prices) model(name string) *pricing.List {
	if p.of == nil || name == "" {
		return nil
	}
	return p.of(name)
}

// own returns the list of the model of a session. It is nil if one of its models has none: that is lacking, "" if the
// session names no model. Another model's prices are never taken.
func (p prices) own(t *transcript.Transcript) (l *pricing.List, lacking string) {
	for _, u := range t.Usage {
		if u.Model != "" && p.model(u.Model) == nil {
			return nil, u.Model
		}
	}
	if l = p.model(t.Model); l == nil {
		lacking = t.Model
	}
	return l, lacking
}

// list returns the price list by which a session is priced in a column, nil if there is none, and whether it is that of
// its model.
func (p prices) list(column *pricing.List, t *transcript.Transcript) (l *pricing.List, own bool) {
	if column.Name == OwnModel {
		l, _ = p.own(t)
		return l, l != nil
	}
	if l = p.model(t.Model); l != nil && column.Name == l.Name {
		return l, true
	}
	return column, false
}

// List returns the price list by which a session is priced in the first column; nil if it is not priced.
func (o Options) List(s Session) *pricing.List {
	if len(o.Prices) == 0 {
		return nil
	}
	l, _ := prices{o.PriceOf}.list(o.Prices[0], s.Transcript)
	return l
}

func (r *recording) list(column *pricing.List) (l *pricing.List, own bool) {
	return r.prices.list(column, r.Transcript)
}

// listOf returns the price list of one request of a session that is priced by l, its own: agents change models.
func (r *recording) listOf(l *pricing.List, u *transcript.Usage) *pricing.List {
	if other := r.prices.model(u.Model); other != nil {
		return other
	}
	return l
}

// written returns a prompt as l has it: usage of OpenAI's does not say what was written to the cache, which some models
// charge for. Where nothing was ever read, nothing was written.
func (r *recording) written(p pricing.Prompt, l *pricing.List) pricing.Prompt {
	if r.reads && !r.writes && l.CacheWrite > 0 {
		p.CacheWrite, p.Uncached = p.Uncached, 0
	}
	return p
}

// fromTo is the day or the range of days; "" for none. Days are in ISO form, which sorts as text.
func fromTo(days []string) string {
	days = slices.DeleteFunc(slices.Clone(days), func(day string) bool { return day == "" })
	if len(days) == 0 {
		return ""
	}
	if first, last := slices.Min(days), slices.Max(days); first != last {
		return first + " to " + last
	}
	return days[0]
}
