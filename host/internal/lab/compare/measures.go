package compare

// Kind is how a figure is shown.
type Kind int

// The kinds. Shares are shown rounded down: 100 % means that nothing is missing. Changes have a sign.
const (
	Count Kind = iota
	Tokens
	Share01 // a share from 0 to 1
	Saving  // a share, below 0 if there was more than without a strategy
	Change  // against doing nothing: -0.1 is a tenth less
	USD
	Seconds
)

// Place is where the HTML report has a measure.
type Place int

// The places.
const (
	Nowhere Place = iota
	Totals
	More
	CostTable
)

// Measure is a figure that a comparison takes of each [Result]: a column of its table, with one row for each variant,
// and of the HTML report. Everything that is said about it stands here.
type Measure struct {
	// Name is what --columns calls it. Head is above the column where that is not the name.
	Name, Head string
	// Rank says how early the column is dropped where the table is too wide; 0 is never.
	Rank int
	// Worst is the rank of one more column, NAME-worst, with the value of the worst session; 0 for none. Spread finds
	// that value; ok is false where there is none.
	Worst  int
	Spread func(r *Result, c Cost) (s Spread, ok bool)
	Kind   Kind
	// PerList says that there is one figure for each price list.
	PerList bool
	Place   Place
	// JSON is where -o json has it within a result, or within a cost if it is PerList.
	JSON string
	// Help is a sentence without a full stop. Legend is its short form below the table; "" for what explains itself.
	Help, Legend string
	// Value is the figure; c is the zero value unless it is PerList.
	Value func(r *Result, c Cost) float64
}

// Measures returns all measures, in the order of columns.
func Measures() []Measure {
	count := func(of func(*Result) int) func(*Result, Cost) float64 {
		return func(r *Result, _ Cost) float64 { return float64(of(r)) }
	}
	share := func(of func(*Result) float64) func(*Result, Cost) float64 {
		return func(r *Result, _ Cost) float64 { return of(r) }
	}
	money := func(of func(Cost) float64) func(*Result, Cost) float64 {
		return func(_ *Result, c Cost) float64 { return of(c) }
	}
	spread := func(of func(*PerSession) Spread) func(*Result, Cost) (Spread, bool) {
		return func(r *Result, _ Cost) (s Spread, ok bool) {
			if r.PerSession != nil {
				s = of(r.PerSession)
			}
			return s, r.PerSession != nil
		}
	}
	return []Measure{
		{Name: "sent", Rank: 4, Kind: Tokens, Place: More, JSON: "sent",
			Help:  "tokens of all requests together",
			Value: count(func(r *Result) int { return r.Sent })},
		{Name: "saved", Kind: Saving, Place: Totals, JSON: "saved",
			Help:  "share of the tokens that was not sent; a changed prompt cache may cost more than that saves",
			Value: share(func(r *Result) float64 { return r.Saved })},
		{Name: "cost", Head: "$", Rank: 1, Worst: 2, Kind: Change, PerList: true, JSON: "relative",
			Help:   "cost of the prompts and of the strategy's own model calls, against doing nothing, for which it is in USD",
			Legend: "cost against doing nothing; WORST: of the session whose cost rose most",
			Spread: func(_ *Result, c Cost) (s Spread, ok bool) {
				if c.PerSession != nil {
					s = *c.PerSession
				}
				return s, c.PerSession != nil
			},
			Value: money(func(c Cost) float64 { return c.Relative })},
		{Name: "recall", Rank: 1, Worst: 3, Kind: Share01, Place: Totals, JSON: "recall.share",
			Help: "of the names (paths, symbols, numbers, quoted text) that later turns used and that were in the " +
				"unpruned history, the share still there",
			Legend: "share of the names used later that were still in the context",
			Spread: spread(func(p *PerSession) Spread { return p.Recall }),
			Value:  share(func(r *Result) float64 { return r.Recall.Share })},
		{Name: "lines", Rank: 1, Worst: 7, Kind: Share01, Place: Totals, JSON: "recall.shareLines",
			Help: "of the names that stood on a line with something else, the share still on such a line: a list of " +
				"names has none of them",
			Legend: "share of those names that still stood on a line with more",
			Spread: spread(func(p *PerSession) Spread { return p.Lines }),
			Value:  share(func(r *Result) float64 { return r.Recall.ShareLines })},
		{Name: "own", Rank: 1, Kind: Share01, Place: Totals, JSON: "own.share",
			Help: "of the lines that the agent said and thought, and of its edits that are still current, the share " +
				"still in the history, on average over the requests",
			Legend: "what the agent said, and its current edits, that requests still held",
			Value:  share(func(r *Result) float64 { return r.Own.Share })},
		{Name: "needs", Rank: 3, Worst: 7, Kind: Share01, Place: Totals, JSON: "needs.share",
			Help: "of later calls, the share whose paths, command names and replaced lines were all still in the " +
				"history, as far as the unpruned history had them",
			Legend: "share of the later calls for which everything was still in the context",
			Spread: spread(func(p *PerSession) Spread { return p.Needs }),
			Value:  share(func(r *Result) float64 { return r.Needs.Share })},
		{Name: "edits", Rank: 4, Worst: 7, Kind: Share01, Place: More, JSON: "needs.shareEdits",
			Help:   "needs of edits alone",
			Spread: spread(func(p *PerSession) Spread { return p.Edits }),
			Value:  share(func(r *Result) float64 { return r.Needs.ShareEdits })},
		{Name: "over-limit", Head: "OVER", Rank: 4, Kind: Count, Place: Totals, JSON: "overLimit",
			Help:   "requests that were still too large for the model: they would have failed",
			Legend: "requests that would have failed: too large for the model",
			Value:  count(func(r *Result) int { return r.OverLimit })},
		{Name: "peak", Rank: 4, Kind: Tokens, Place: More, JSON: "peak",
			Help:  "the largest request",
			Value: count(func(r *Result) int { return r.Peak })},
		{Name: "rewrites", Rank: 5, Kind: Count, Place: Totals, JSON: "rewrites",
			Help:  "requests that changed part of the one before, so that the prompt cache is useless from there on",
			Value: count(func(r *Result) int { return r.Rewrites })},
		{Name: "optimized", Rank: 6, Kind: Count, Place: More, JSON: "optimized",
			Help:  "turns in which something was pruned",
			Value: count(func(r *Result) int { return r.Optimized })},
		{Name: "held", Rank: 8, Kind: Count, Place: More, JSON: "held",
			Help:  "turns in which the cadence put pruning off: it did not pay yet",
			Value: count(func(r *Result) int { return r.Held })},
		{Name: "compressed", Rank: 6, Kind: Count, Place: More, JSON: "compressed",
			Help:  "turns in which the history was compressed",
			Value: count(func(r *Result) int { return r.Compressed })},
		{Name: "make-room", Head: "MAKE\nROOM", Rank: 8, Kind: Count, Place: More, JSON: "laddered",
			Help:  "turns in which the host made room without the strategy, over the hard limit",
			Value: count(func(r *Result) int { return r.Laddered })},
		{Name: "rereads", Rank: 6, Kind: Count, Place: More, JSON: "rereads.calls",
			Help:  "later calls equal to one whose result had been pruned; the recorded agent made them although it had it",
			Value: count(func(r *Result) int { return r.Rereads.Calls })},
		{Name: "own-worst", Head: "OWN\nWORST", Rank: 6, Kind: Share01, JSON: "own.worst",
			Help:  "own of the request that had least of it",
			Value: share(func(r *Result) float64 { return r.Own.Worst })},
		{Name: "results", Head: "RECALL\nRESULTS", Rank: 6, Kind: Share01, Place: More, JSON: "recall.shareResults",
			Help:  "recall of the names that only tool results contained",
			Value: share(func(r *Result) float64 { return r.Recall.ShareResults })},
		{Name: "turns", Rank: 8, Kind: Count, Place: More, JSON: "turns",
			Help:  "requests to the model",
			Value: count(func(r *Result) int { return r.Turns })},
		{Name: "pruned", Rank: 8, Kind: Tokens, Place: More, JSON: "pruned.tokens",
			Help:  "tokens that were removed, minus those put in their place",
			Value: count(func(r *Result) int { return r.Pruned.Tokens })},
		{Name: "usd", Head: "USD", Rank: 7, Kind: USD, PerList: true, JSON: "usd",
			Help:  "the cost in USD",
			Value: money(func(c Cost) float64 { return c.USD })},
		{Name: "cache-read", Head: "CACHE READ", Rank: 8, Kind: Tokens, PerList: true, Place: CostTable, JSON: "cacheReadTokens",
			Help:  "tokens read from the provider's prompt cache",
			Value: money(func(c Cost) float64 { return float64(c.CacheRead) })},
		{Name: "cache-write", Head: "CACHE WRITE", Rank: 8, Kind: Tokens, PerList: true, Place: CostTable, JSON: "cacheWriteTokens",
			Help:  "tokens written to the prompt cache",
			Value: money(func(c Cost) float64 { return float64(c.CacheWrite) })},
		{Name: "uncached", Head: "UNCACHED", Rank: 8, Kind: Tokens, PerList: true, Place: CostTable, JSON: "uncachedTokens",
			Help:  "tokens sent without the prompt cache",
			Value: money(func(c Cost) float64 { return float64(c.Uncached) })},
		{Name: "model-usd", Head: "MODEL USD", Rank: 8, Kind: USD, PerList: true, Place: CostTable, JSON: "modelUsd",
			Help:  "the part of the cost that the strategy's own model calls have",
			Value: money(func(c Cost) float64 { return c.Model })},
		{Name: "model-time", Head: "MODEL\nTIME", Rank: 8, Kind: Seconds, JSON: "llm.timeNs",
			Help: "time of the strategy's own model calls",
			Value: share(func(r *Result) float64 {
				if r.LLM == nil {
					return 0
				}
				return r.LLM.Time.Seconds()
			})},
		{Name: "host", Rank: 8, Kind: Seconds, JSON: "hostTimeNs",
			Help:  "time in the host",
			Value: share(func(r *Result) float64 { return r.HostTime.Seconds() })},
		{Name: "plugin", Rank: 7, Kind: Seconds, JSON: "pluginTimeNs",
			Help:  "time in the strategy",
			Value: share(func(r *Result) float64 { return r.PluginTime.Seconds() })},
	}
}
