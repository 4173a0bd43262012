package compare

import (
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// OwnModel is the name of [OwnPrices].
const OwnModel = "own-model"

// OwnPrices returns a column by which each session is priced at the prices of the models that it was recorded with. It
// has no prices itself. asOf is the day or days of the lists.
func OwnPrices(asOf string) *pricing.List {
	return &pricing.List{Name: OwnModel, AsOf: asOf, Note: "Each session at the prices of its own model."}
}

// prices finds the price lists of models. The zero value knows none.
type prices struct {
	of    func(model string) *pricing.List // nil if there is none
	other *pricing.List                    // of models without one, in the column of own prices
}

func (p prices) model(name string) *pricing.List {
	if p.of == nil || name == "" {
		return nil
	}
	return p.of(name)
}

// list returns the price list by which a session of a model is priced in a column, and whether it is that of the model.
func (p prices) list(column *pricing.List, model string) (l *pricing.List, own bool) {
	l = p.model(model)
	if l != nil && (column.Name == OwnModel || column.Name == l.Name) {
		return l, true
	}
	if column.Name == OwnModel {
		return p.other, false
	}
	return column, false
}

// List returns the price list by which a session is priced in the first column; nil if nothing is priced.
func (o Options) List(s Session) *pricing.List {
	if len(o.Prices) == 0 {
		return nil
	}
	l, _ := prices{o.PriceOf, o.Other}.list(o.Prices[0], s.Transcript.Model)
	return l
}

func (r *recording) list(column *pricing.List) (l *pricing.List, own bool) {
	return r.prices.list(column, r.Transcript.Model)
}

// listOf returns the price list of one request of a session that is priced by l, its own: agents change models.
func (r *recording) listOf(l *pricing.List, u *transcript.Usage) *pricing.List {
	if other := r.prices.model(u.Model); other != nil {
		return other
	}
	return l
}

// written returns a prompt as l has it: usage of OpenAI's does not say what was written to the cache, which some models
// charge for.
func (r *recording) written(p pricing.Prompt, l *pricing.List) pricing.Prompt {
	if !r.writes && l.CacheWrite > 0 {
		p.CacheWrite, p.Uncached = p.Uncached, 0
	}
	return p
}
