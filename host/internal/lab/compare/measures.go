package compare

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/pricing"
)

// Measure is a figure that a comparison takes of each [Result]. Whatever shows or explains it (the table, --columns,
// help, the HTML page) does so by its row in [Measures].
type Measure struct {
	// Name is what --columns calls it. Head is above the column where that is not the name.
	Name, Head string
	Kind       Kind
	// Rank says how early the column is dropped where the table is too wide; 0 is never. The HTML page has the ranks
	// below [Details] in its totals, and the others in its details.
	Rank int
	// Alarm keeps the column wherever a row has more than 0.
	Alarm bool
	// JSON is where -o json has it in a result, and the value is read from there. Behind "costs[]." there is one for
	// each price list.
	JSON string
	// Worst is the rank of another column, NAME-worst, with the value of the worst session; 0 for none. Of is where the
	// JSON has what the value is a share of: a session in which that is 0 is not the worst. "" if it always counts.
	Worst int
	Of    string
	// Help is a sentence without a full stop. Legend is its short form below the table; "" for what explains itself.
	Help, Legend string
}

// Details is the lowest rank of what the HTML page has in its details.
const Details = 4

// Measures are in the order of their columns.
var Measures = []Measure{
	{Name: "sent", Kind: Tokens, Rank: 4, JSON: "sent", Help: "tokens of all requests together"},
	{Name: "saved", Head: "TOKENS\nSAVED", Kind: Saving, JSON: "saved",
		Help: "share of the tokens that was not sent; a changed prompt cache may cost more than that saves"},
	{Name: "cost", Kind: Change, Rank: 1, Worst: 2, JSON: "costs[].relative", Of: "costs[].nothingUsd",
		Help:   "cost of the prompts and of the strategy's own model calls, against doing nothing, for which it is in USD",
		Legend: "cost against doing nothing, which is in dollars; WORST: of the session whose cost rose most"},
	{Name: "recall", Kind: Kept, Rank: 1, Worst: 3, JSON: "recall.share", Of: "recall.used",
		Help: "of the names (paths, symbols, numbers, quoted text) that later turns used and that were in the " +
			"unpruned history, the share still there",
		Legend: "share of the names used later that were still in the context"},
	{Name: "lines", Kind: Kept, Rank: 1, Worst: 7, JSON: "recall.shareLines", Of: "recall.usedLines",
		Help: "of the names that stood on a line with something else, the share still on such a line: a list of " +
			"names has none of them",
		Legend: "share of those names that still stood on a line with more"},
	{Name: "own", Kind: Kept, Rank: 1, JSON: "own.share",
		Help: "of the lines that the agent said and thought, and of its edits that are still current, the share " +
			"still in the history, on average over the requests",
		Legend: "what the agent said, and its current edits, that requests still held"},
	{Name: "needs", Kind: Kept, Rank: 3, Worst: 7, JSON: "needs.share", Of: "needs.calls",
		Help: "of later calls, the share whose paths, command names and replaced lines were all still in the " +
			"history, as far as the unpruned history had them",
		Legend: "share of the later calls for which everything was still in the context"},
	{Name: "edits", Kind: Kept, Rank: 4, Worst: 7, JSON: "needs.shareEdits", Of: "needs.edits",
		Help: "needs of edits alone"},
	{Name: "found", Kind: Kept, Rank: 6, JSON: "needs.shareFound",
		Help: "of the later calls that lacked something, the share for which thresh_recall, asked with the words of " +
			"the call, has it among its first three passages",
		Legend: "share of the calls that lacked something which a search would have helped"},
	{Name: "kept", Kind: Kept, Rank: 7, Worst: 7, JSON: "kept",
		Help: "the lower of lines and own: what --min-recall asks for"},
	{Name: "over-limit", Head: "OVER", Rank: 4, Alarm: true, JSON: "overLimit",
		Help:   "requests that were still too large for the model: they would have failed",
		Legend: "requests that would have failed: too large for the model"},
	{Name: "peak", Kind: Tokens, Rank: 4, JSON: "peak", Help: "the largest request"},
	{Name: "rewrites", Rank: 5, JSON: "rewrites",
		Help: "requests that changed part of the one before, so that the prompt cache is useless from there on"},
	{Name: "optimized", Rank: 6, JSON: "optimized", Help: "turns in which something was pruned"},
	{Name: "held", Rank: 8, JSON: "held", Help: "turns in which the cadence put pruning off: it did not pay yet"},
	{Name: "compressed", Rank: 6, JSON: "compressed", Help: "turns in which the history was compressed"},
	{Name: "make-room", Head: "MAKE\nROOM", Rank: 8, Alarm: true, JSON: "laddered",
		Help:   "turns in which the host made room without the strategy, over the hard limit",
		Legend: "turns in which the host removed more than the strategy did, to fit"},
	{Name: "rereads", Rank: 6, JSON: "rereads.calls",
		Help: "later calls equal to one whose result had been pruned; the recorded agent made them although it had it"},
	{Name: "own-worst", Head: "OWN\nWORST", Kind: Kept, Rank: 6, JSON: "own.worst",
		Help: "own of the request that had least of it"},
	{Name: "results", Head: "RECALL\nRESULTS", Kind: Kept, Rank: 6, JSON: "recall.shareResults",
		Help: "recall of the names that only tool results contained"},
	{Name: "turns", Rank: 8, JSON: "turns", Help: "requests to the model"},
	{Name: "pruned", Kind: Tokens, Rank: 8, JSON: "pruned.tokens",
		Help: "tokens that were removed, minus those put in their place"},
	{Name: "recall-tool", Head: "RECALL\nTOOL", Kind: Saving, Rank: 6, JSON: "costs[].recallToolShare",
		Help: "share that thresh_recall adds to the cost: its description and the ids in the places of results, without " +
			"what a model reads again with it",
		Legend: "share that thresh_recall adds to the cost"},
	{Name: "searches-usd", Head: "SEARCHES\nUSD", Kind: USD, Rank: 8, JSON: "costs[].searchesUsd",
		Help: "the part of the cost for searching what was removed: a request more for each call that lacked something, " +
			"unless proxy.recall is off"},
	{Name: "best", Kind: USD, Rank: 8, JSON: "costs[].bestUsd",
		Help: "the cost at the least, for someone who knows how the session goes on and leaves what OWN and NEEDS count"},
	{Name: "of-best", Kind: Saving, Rank: 6, JSON: "costs[].ofBest",
		Help:   "share of that saving that was made; a strategy that loses something can make more",
		Legend: "share of the saving that hindsight would have made"},
	{Name: "tool-tokens", Head: "TOOL\nTOKENS", Kind: Tokens, Rank: 8, JSON: "recallToolTokens",
		Help: "tokens for thresh_recall in all requests together, which SENT does not have"},
	{Name: "usd", Kind: USD, Rank: 7, JSON: "costs[].usd", Help: "the cost in USD"},
	{Name: "cache-read", Kind: Tokens, Rank: 8, JSON: "costs[].cacheReadTokens",
		Help: "tokens read from the provider's prompt cache"},
	{Name: "cache-write", Kind: Tokens, Rank: 8, JSON: "costs[].cacheWriteTokens",
		Help: "tokens written to the prompt cache"},
	{Name: "uncached", Kind: Tokens, Rank: 8, JSON: "costs[].uncachedTokens",
		Help: "tokens sent without the prompt cache"},
	{Name: "model-usd", Kind: USD, Rank: 8, JSON: "costs[].modelUsd",
		Help: "the part of the cost that the strategy's own model calls have"},
	{Name: "model-time", Head: "MODEL\nTIME", Kind: Time, Rank: 8, JSON: "llm.timeNs",
		Help: "time of the strategy's own model calls"},
	{Name: "host", Kind: Time, Rank: 8, JSON: "hostTimeNs", Help: "time in the host"},
	{Name: "plugin", Kind: Time, Rank: 7, JSON: "pluginTimeNs", Help: "time in the strategy"},
}

// PerList reports whether there is a figure for each price list.
func (m *Measure) PerList() bool { return strings.HasPrefix(m.JSON, "costs[].") }

// value is the figure of r, at the prices of c.
func (m *Measure) value(r *Result, c *Cost) float64 { return number(m.JSON, r, c) }

// counts reports whether the worst session may be this one.
func (m *Measure) counts(r *Result, c *Cost) bool { return m.Of == "" || number(m.Of, r, c) > 0 }

// spread is how the figure differs between the sessions of a total.
func (m *Measure) spread(r *Result, c *Cost) (s Spread, ok bool) {
	if m.PerList() {
		if c.PerSession != nil {
			s = *c.PerSession
		}
		return s, c.PerSession != nil
	}
	s, ok = r.PerSession[m.Name]
	return s, ok
}

// number is what r, or one of its costs, has at a path of the JSON; 0 behind what is nil.
func number(path string, r *Result, c *Cost) float64 {
	at := reflect.ValueOf(r)
	if of, ok := strings.CutPrefix(path, "costs[]."); ok {
		at, path = reflect.ValueOf(c), of
	}
	for name := range strings.SplitSeq(path, ".") {
		if at = reflect.Indirect(at); !at.IsValid() {
			return 0
		}
		at = at.FieldByIndex(field(at.Type(), name).Index)
	}
	if at.CanInt() {
		return float64(at.Int())
	}
	return at.Float()
}

// field is the field that JSON calls name. A wrong row panics; a test looks at all of them.
func field(t reflect.Type, name string) reflect.StructField {
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f
		}
	}
	panic("no " + name + " in the JSON of " + t.String())
}

// Column is a column of a table of results.
type Column struct {
	*Measure
	// Name, Head and Rank are those of the column. Columns of several price lists share their names.
	Name, Head string
	Rank       int
	// List is the price list of a measure that has one for each; "" for the others.
	List string
	// Worst is the column of the worst session; nil for none.
	Worst *Column

	worst bool
}

// Columns returns the columns of these rows, but for those of worst sessions. Those of later price lists have higher
// ranks.
func (r *Report) Columns(rows []Row) (out []Column) {
	for i := range Measures {
		m, lists := &Measures[i], []*pricing.List{{}}
		if m.PerList() {
			lists = r.Prices
		}
		head := cmp.Or(m.Head, strings.ToUpper(strings.ReplaceAll(m.Name, "-", " ")))
		rank := m.Rank
		if m.Alarm && slices.ContainsFunc(rows, func(row Row) bool { return m.value(row.Result, nil) > 0 }) {
			rank = 0
		}
		if m.Name == "sent" && !r.priced(rows) {
			rank = 1 // what stands for the cost
		}
		for n, l := range lists {
			later := min(2*n, 3)
			c := Column{Measure: m, List: l.Name, Name: m.Name, Head: head, Rank: rank + later}
			if m.Worst > 0 {
				c.Worst = &Column{Measure: m, List: l.Name, worst: true,
					Name: m.Name + "-worst", Head: "WORST\n" + head, Rank: m.Worst + later}
			}
			out = append(out, c)
		}
	}
	return out
}

// priced reports whether some row has a cost at the first price list.
func (r *Report) priced(rows []Row) bool {
	return len(r.Prices) > 0 && (rows == nil || slices.ContainsFunc(rows, func(row Row) bool {
		_, ok := row.Cost(r.Prices[0].Name)
		return ok
	}))
}

// Text is the column's cell of a row: "-" for what the row does not have, "" where the worst session says nothing.
// Doing nothing has no cost against itself, and shows dollars.
func (c *Column) Text(row Row) string {
	cost, priced := row.Cost(c.List)
	nothing := row.Variant == NothingName
	switch {
	case c.worst:
		if s, ok := c.spread(row.Result, &cost); ok && !nothing && row.Sessions > 1 {
			return c.Kind.text(s.Worst, cost.Nothing)
		}
		return ""
	case c.PerList() && !priced, nothing && c.Kind == Time:
		return "-"
	case nothing && c.Kind == Change:
		return "$" + USD.text(cost.USD, cost.Nothing)
	}
	return c.Kind.text(c.value(row.Result, &cost), cost.Nothing)
}
