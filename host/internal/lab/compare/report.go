package compare

import (
	"time"

	"github.com/thresh-dev/thresh/host/internal/lab/replay"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/outcome"
)

// Report is the result of a comparison and its JSON form. Except for durations it depends only on the input, not on
// how much ran in parallel. Fields are only added, since scripts read it.
type Report struct {
	// Prices are the price lists that the costs are by, as they were given.
	Prices []*pricing.List `json:"prices"`
	// Variants are the columns, in the order of all lists of results. A variant of [Options] appears once per price
	// list if its decisions depend on prices.
	Variants []VariantInfo   `json:"variants"`
	Sessions []SessionReport `json:"sessions"`
	// Unread is how many sessions the sums lack because they cannot be read.
	Unread int `json:"unread,omitempty"`
	// Totals are the sums over the sessions that were replayed to their ends.
	Totals Results `json:"totals"`
	// Incomplete means that the comparison was interrupted: some replays are missing, and Totals are without them.
	Incomplete bool `json:"incomplete,omitempty"`
	// Recommendation is what the figures come to; nil if nobody asked ([Report.Recommend]).
	Recommendation *Recommendation `json:"recommendation,omitempty"`
	// Windows are what shares of the context windows come to; nil if nobody asked ([Report.ByWindow]).
	Windows []Window      `json:"windows,omitempty"`
	Took    time.Duration `json:"tookNs"`
	// Span is from the first request of all sessions to the last one; 0 if a session has no times.
	Span time.Duration `json:"spanNs,omitempty"`
	// ByModel is [Options.ByModel].
	ByModel bool `json:"byModel,omitempty"`
}

type VariantInfo struct {
	// Name is unique in the report.
	Name     string            `json:"name"`
	Strategy string            `json:"strategy"`
	Settings map[string]string `json:"settings,omitempty"`
	// PriceList is the one price list by which the variant decided and by which alone it is priced; "" if it is
	// priced by all.
	PriceList string `json:"priceList,omitempty"`
}

type SessionReport struct {
	Name    string            `json:"name"`
	Format  transcript.Format `json:"format,omitempty"`
	Entries int               `json:"entries"`
	Tokens  int               `json:"tokens"`
	// Boundaries are the turns, from 1, before which the recorder had compacted its own history. The replay began a
	// new session there with what the recorder went on with.
	Boundaries []int `json:"boundaries,omitempty"`
	// Timed means that the entries have timestamps, so pauses can make the prompt cache expire.
	Timed bool `json:"timed"`
	// First and Last are when its first and its last request were made; zero if that is not known.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// Model is the recorded model, "" if unknown. Prices is the price list of it; "" if there is none, for it or for
	// Unlisted, the model of some of its requests.
	Model    string `json:"model,omitempty"`
	Prices   string `json:"prices,omitempty"`
	Unlisted string `json:"unlistedModel,omitempty"`
	// Window is that of its model.
	Window replay.Window `json:"window"`
	// Billed is how many requests the recording has usage of: the provider's own counts are then the base of all
	// figures, and other requests count nothing. If it is 0, the figures are the host's counts.
	Billed int `json:"billedRequests"`
	// Elsewhere is how many of the recorded requests are another session's: they are in no figure of this one.
	Elsewhere int `json:"elsewhereRequests,omitempty"`
	// RecordedUSD is what the recording says that its requests cost, in US dollars; 0 if it says nothing. Costs are the
	// same where the model has prices; where it has none, this is all that is known.
	RecordedUSD float64 `json:"recordedUSD,omitempty"`
	// Plan is what was used of the windows of the user's plan meanwhile, by all that used it; none if that is not
	// known.
	Plan []provider.Part `json:"plan,omitempty"`
	Results
}

type Results struct {
	// Nothing is what the requests would have been without any strategy. Those with OverLimit would have failed.
	Nothing Result `json:"nothing"`
	// Variants are in the order of [Report.Variants].
	Variants []Result `json:"variants"`
}

// Result is what one variant made of one session, or of all together. Tokens are prompt tokens: as the provider counted
// them if the session was recorded with usage, else as the host counts them.
type Result struct {
	Variant string `json:"variant"`
	// Done means that the session was replayed to its end; in a total, that all sessions were.
	Done bool `json:"done"`
	// Error is the reason if the replay failed. The figures then cover the turns before it; in a total, the sessions
	// that were replayed to their ends. "" without Done means that the replay did not begin, because the comparison
	// was interrupted.
	Error string `json:"error,omitempty"`
	// Sessions is how many sessions the figures are of.
	Sessions int `json:"sessions"`
	Turns    int `json:"turns"`
	// Limits are from the last turn, the threshold among them; nil in totals, for doing nothing, and without turns.
	Limits *outcome.Limits `json:"limits,omitempty"`

	// Sent is what all requests had together, Unpruned what they would have had if nothing had been done.
	Sent     int `json:"sent"`
	Unpruned int `json:"unpruned"`
	// Saved is the share of Unpruned that was not sent, at most 1; below 0 if more was sent.
	Saved float64 `json:"saved"`
	// Peak and PeakUnpruned are the largest single request, as the provider was expected to count it: OverLimit goes by
	// the same count.
	Peak         int `json:"peak"`
	PeakUnpruned int `json:"peakUnpruned"`
	// OverLimit counts the requests that were too large for the model, UnprunedOverLimit those that would have been
	// so if nothing had been done.
	OverLimit         int `json:"overLimit"`
	UnprunedOverLimit int `json:"unprunedOverLimit"`

	// Rewrites counts the requests that changed something of the one before: from there on the provider's cache was
	// of no use. A request after a compaction of the recorder is none.
	Rewrites int `json:"rewrites"`
	// Optimized counts the turns in which an Optimize changed something, Held those in which one would have and the
	// cadence held it back, Compressed those in which a Compress did, Laddered those that needed the steps of the
	// hard limit.
	Optimized  int `json:"optimized"`
	Held       int `json:"held"`
	Compressed int `json:"compressed"`
	Laddered   int `json:"laddered"`

	// RecallTool is how many tokens all requests together have for the tool thresh_recall, by the host's count; they
	// are in no other figure. 0 if the setting proxy.recall is off.
	RecallTool int `json:"recallToolTokens"`

	// Costs are by price list, in the order of [Report.Prices]; of a variant that decided by a list, that list's alone.
	Costs   []Cost  `json:"costs"`
	Recall  Recall  `json:"recall"`
	Needs   Needs   `json:"needs"`
	Own     Own     `json:"own"`
	Rereads Rereads `json:"rereads"`
	Pruned  Pruned  `json:"pruned"`
	// Kept is what recommendations go by: the share of used names on their lines, or of the agent's own words and
	// edits, whichever is lower.
	Kept float64 `json:"kept"`
	// LLM is what the strategy's model calls took; nil if it made none.
	LLM        *outcome.Spent `json:"llm,omitempty"`
	HostTime   time.Duration  `json:"hostTimeNs"`
	PluginTime time.Duration  `json:"pluginTimeNs"`

	// PerSession says in totals how shares differ between the sessions, by the names of measures; nil elsewhere.
	PerSession map[string]Spread `json:"perSession,omitempty"`

	// Points are the turns, for charts; none in totals.
	Points []Point `json:"points,omitempty"`
	// Steps are the turns with all that the host and the strategy did in each, by the host's counts; nil unless
	// [Options.Turns] asks for them, in totals, and for doing nothing.
	Steps []replay.Turn `json:"steps,omitempty"`
}

// Ran reports whether there are figures: a variant that was not run has none, and zeros would claim that it was.
func (r *Result) Ran() bool { return r.Turns > 0 || r.Done }

// Cost returns the cost by a price list; ok is false if no session of the result was priced by it.
func (r *Result) Cost(list string) (c Cost, ok bool) {
	for _, c := range r.Costs {
		if c.List == list {
			return c, c.Unpriced == 0 || c.Unpriced < r.Sessions
		}
	}
	return Cost{}, false
}

// SavedPerSession returns what a session that is priced costs less than doing nothing, on average, in USD; 0 without prices.
func (r *Result) SavedPerSession(list string) float64 {
	c, _ := r.Cost(list)
	return (c.Nothing - c.USD) / float64(max(r.Sessions-c.Unpriced, 1))
}

// Cost is the cost of the requests by one price list.
type Cost struct {
	List string `json:"list"`
	// Unpriced is how many of [Result.Sessions] have a model without known prices: they add nothing to the amounts.
	Unpriced int `json:"unpricedSessions,omitempty"`
	// USD is all of it, Model the part that the strategy's own model calls cost: as its profile prices them, or by
	// this list if the profile has no prices. Answers is what the agent's model answered, of sessions that were
	// recorded with usage: it is the same for all variants, and also in Nothing.
	USD     float64 `json:"usd"`
	Model   float64 `json:"modelUsd"`
	Answers float64 `json:"answersUsd"`
	// Searches is the part of USD for searching what was removed, where the model is given thresh_recall: each call that
	// lacked something takes one more request over all of the prompt, and carries what was found until the next rewrite.
	Searches float64 `json:"searchesUsd"`
	// Nothing is what the same requests would have cost if nothing had been done, in a window that has room for them.
	// Requests over the limit ([Result.OverLimit]) cannot be sent: they cost nothing, here and in USD. In the result of
	// doing nothing, these are the requests that no variant could send either.
	Nothing float64 `json:"nothingUsd"`
	// Relative is USD against Nothing: 0.1 is a tenth dearer, −0.1 a tenth cheaper. 0 if Nothing is 0.
	Relative float64 `json:"relative"`
	// Best is what the requests would have cost at the least, for someone who knows how the session goes on: with the
	// best moments for rewrites, each of which leaves what people and the agent said, its current edits, new results, and
	// of others the names and lines that later calls need. OfBest is how much of that saving was made; 0 if
	// there is none to be had, and for doing nothing.
	Best   float64 `json:"bestUsd"`
	OfBest float64 `json:"ofBest"`
	// PerSession says in totals how Relative differs between the sessions; nil elsewhere, and if no session is priced.
	PerSession *Spread `json:"perSession,omitempty"`
	// CacheRead, CacheWrite and Uncached are the tokens of all requests by what was asked for them.
	CacheRead  int `json:"cacheReadTokens"`
	CacheWrite int `json:"cacheWriteTokens"`
	Uncached   int `json:"uncachedTokens"`
	// RecallTool is what the tool thresh_recall costs beside USD: its description and the ids in the places of results,
	// at the price of what stands around them, but not what a model reads again with it. RecallToolShare is its share
	// of both.
	RecallTool      float64 `json:"recallToolUsd"`
	RecallToolShare float64 `json:"recallToolShare"`
}

// Recall is the share of identifiers that were still in the context when a later turn used them. See the package's
// documentation for what that does and does not tell.
type Recall struct {
	// Used counts the identifiers that the model used and that were in the unpruned context then, once for each turn
	// that used them; Kept how many of them were in what was sent.
	Used int `json:"used"`
	Kept int `json:"kept"`
	// Share is Kept of Used, 1 if nothing was used.
	Share float64 `json:"share"`
	// Results is the same of identifiers that, of the unpruned context, only results of tools held.
	UsedResults  int     `json:"usedResults"`
	KeptResults  int     `json:"keptResults"`
	ShareResults float64 `json:"shareResults"`
	// ShareLines is the stricter share: of names that stood on a line with something else, how many were still on one
	// of these lines. A list of names has none of them.
	UsedLines  int     `json:"usedLines"`
	KeptLines  int     `json:"keptLines"`
	ShareLines float64 `json:"shareLines"`
	// Lost are the first of those that were not kept, at most [MaxLost]; in totals of the first sessions.
	Lost []Lost `json:"lost,omitempty"`
}

// Needs is the share of calls that could have been made from what was sent. What a call was made from are the
// identifiers in its paths and in its command, and each line of the text that an edit replaces, so far as they were in
// the unpruned context of the request. Calls without any of them do not count.
type Needs struct {
	// Calls counts the calls, Kept the calls all of whose parts were in what was sent.
	Calls int `json:"calls"`
	Kept  int `json:"kept"`
	// Share is Kept of Calls, 1 without calls.
	Share float64 `json:"share"`
	// Found counts those of the other calls for which a search over what was removed, by the words of the call, has
	// some of what was missing among its first three passages; of an edit, one of the missing lines. ShareFound is
	// their share, 1 if no call lacked anything.
	Found      int     `json:"found"`
	ShareFound float64 `json:"shareFound"`
	// Edits is the same as Calls, of calls that replace lines of a file.
	Edits      int     `json:"edits"`
	KeptEdits  int     `json:"keptEdits"`
	ShareEdits float64 `json:"shareEdits"`
}

// Own is the share of what the agent made itself that requests still held, by bytes: the lines that it said and
// thought, and those of its edits that no later write to the file took away, wherever in the request they stand.
type Own struct {
	// Requests counts those before which the agent had made something.
	Requests int `json:"requests"`
	// Share is the mean over these requests, Worst the lowest of them; 1 without requests.
	Share float64 `json:"share"`
	Worst float64 `json:"worst"`
}

// Spread is how a share differs between sessions. Sessions in which nothing was counted are in none.
type Spread struct {
	// Mean is the mean of the sessions' shares, each session counted once; Worst is the lowest, of the session that
	// is named. Of costs, Worst is the highest.
	Mean    float64 `json:"mean"`
	Worst   float64 `json:"worst"`
	Session string  `json:"session"`
}

// Differs reports whether the worst session says something that the sum of all does not: of one session it is no news.
func (s Spread) Differs(sum float64) bool { return s.Worst != sum }

// MaxLost is how many lost identifiers a [Recall] names.
const MaxLost = 20

// Lost is one identifier that was used and no longer there.
type Lost struct {
	Identifier string `json:"identifier"`
	Session    string `json:"session"`
	// Turn used it, from 1; Entry is the recorded entry that did, from 0.
	Turn  int `json:"turn"`
	Entry int `json:"entry"`
	// From is the last recorded entry before that which held it.
	From int `json:"from"`
}

// Rereads counts calls that were repeated although their result was known: an earlier call with the same tool and
// parameters had a result that the strategy pruned while it was in the unpruned context.
type Rereads struct {
	Calls int `json:"calls"`
	// Tokens is what the results of the later calls count.
	Tokens int `json:"tokens"`
}

// Pruned is what a variant removed by pruning, compressing and at the hard limit, less what it put in its place.
type Pruned struct {
	// Entries counts removed and trimmed entries, each time that one was changed.
	Entries int `json:"entries"`
	Tokens  int `json:"tokens"`
	// Tools are by the tool whose call or result went, what people and the model said under [HumanText] and [AIText].
	Tools []Share `json:"tools"`
	// Files are by the file that the call read or wrote; other calls are in none.
	Files []Share `json:"files"`
}

// Names of what is no tool's in [Pruned.Tools].
const (
	HumanText = "(human text)"
	AIText    = "(ai text)"
	OtherText = "(other)"
)

// MaxShares is how many tools or files are named; the rest is one more [Share].
const MaxShares = 20

// Share is what was pruned of one tool or file, the largest first.
type Share struct {
	// Name of the tool or the path; "" in the last of a list if that is the rest.
	Name string `json:"name"`
	// Rest is how many tools or files the rest is of; 0 for one that is named.
	Rest   int `json:"rest,omitempty"`
	Count  int `json:"count"`
	Tokens int `json:"tokens"`
}

type Point struct {
	// Turn counts from 1; Entry is the recorded entry that answers it, from 0.
	Turn     int `json:"turn"`
	Entry    int `json:"entry"`
	Sent     int `json:"sent"`
	Unpruned int `json:"unpruned"`
	// USD is what all requests up to here cost, in the order of [Result.Costs], to a hundredth of a cent.
	USD []float64 `json:"usd"`
	// Rewrite says that the request changed something of the one before it, OverLimit that it was too large.
	Rewrite   bool `json:"rewrite,omitempty"`
	OverLimit bool `json:"overLimit,omitempty"`
}
