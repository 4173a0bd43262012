package highdensity

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/prune"
	"github.com/thresh-dev/thresh/sdk/summary"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// plan is a compression in progress. Every entry has its own token count, so the size of the result is known at
// each step by subtraction.
type plan struct {
	in     sdk.CompressInput
	pairs  *turns.Pairs
	tail   int // where the tail begins; entries from here on are left alone
	target int // tokens that the result should count at most

	entries []sdk.Content // the history, with shortened entries
	counts  []int         // tokens of each entry
	gone    []bool        // which entries were dropped
	pinned  []bool        // which entries must stay as they are
	before  int           // tokens of the input
	tokens  int           // tokens of what is left

	// How often each step was taken, for the metadata of the result.
	results, exchanges, texts, dropped int64
}

// newPlan starts with the whole history. The host has counted every entry already, so in.Tokens costs nothing.
func newPlan(in sdk.CompressInput, tail int) *plan {
	n := len(in.History)
	p := &plan{
		in:      in,
		pairs:   turns.Pair(in.History),
		tail:    tail,
		target:  int(math.Floor(in.Target())),
		entries: slices.Clone(in.History),
		counts:  make([]int, n),
		gone:    make([]bool, n),
		pinned:  make([]bool, n),
	}
	for i := range n {
		p.pinned[i] = in.History[i].Pinned()
		p.counts[i] = in.Tokens(i, i+1)
		p.before += p.counts[i]
	}
	p.tokens = p.before
	return p
}

// summarize replaces the tool results before the tail by lines. The host counts all changed entries in one call,
// because each call is a round trip to another process.
func (p *plan) summarize(ctx context.Context, host sdk.Host) error {
	var changed []sdk.Content
	var at, results []int
	for i := range p.tail {
		if p.entries[i].Speaker != sdk.Tool || p.pinned[i] {
			continue
		}
		if entry, n := p.shortened(i); n > 0 {
			changed, at, results = append(changed, entry), append(at, i), append(results, n)
		}
	}
	if len(changed) == 0 {
		return ctx.Err()
	}
	counts, err := host.EstimateTokens(ctx, changed)
	if err != nil {
		return fmt.Errorf("counting %d shortened entries: %w", len(changed), err)
	}
	if len(counts) != len(changed) {
		return fmt.Errorf("the host counted %d entries, but was asked for %d", len(counts), len(changed))
	}
	for k, i := range at {
		if counts[k] > p.counts[i] {
			continue // fewer characters, but more tokens
		}
		p.tokens -= p.counts[i] - counts[k]
		p.entries[i], p.counts[i] = changed[k], counts[k]
		p.results += int64(results[k])
	}
	return nil
}

// shortened returns entry i with its results replaced by lines, and how many results that were. The blocks are copied
// before the first change: they belong to the input.
func (p *plan) shortened(i int) (sdk.Content, int) {
	entry := p.in.History[i]
	n := 0
	own := marks.In(entry)
	for j, block := range entry.Blocks {
		response, ok := block.(sdk.ToolResponse)
		if !ok {
			continue
		}
		line, ok := p.line(response, turns.At{Entry: i, Block: j}, own[j])
		if !ok {
			continue
		}
		if n == 0 {
			entry.Blocks = slices.Clone(entry.Blocks)
		}
		entry.Blocks[j] = response.WithResultText(line)
		n++
	}
	return entry, n
}

// line returns the line for one result, of which own are marks. ok is false if the result should stay: it was pruned
// before, it is malformed, or a line would be no shorter.
func (p *plan) line(r sdk.ToolResponse, at turns.At, own marks.Places) (line string, ok bool) {
	if r.CallID == "" || prune.IsPointer(r) {
		return "", false
	}
	var call sdk.ToolCall
	if ref, ok := p.pairs.Call(at); ok {
		call = p.in.History[ref.Entry].Blocks[ref.Block].(sdk.ToolCall)
	}
	return summary.Line(p.in.Tools, call, r, own)
}

// evict drops the oldest parts before the tail until the rest fits: first exchanges, each call together with all of
// its responses, then entries of the AI without calls. What people said stays, and so do entries of unknown speakers
// and pinned ones. An exchange with a pinned entry stays whole, so call and response stay together.
//
// Exchanges go first because tool output is the easiest to get back: the agent can run the tool again. What the AI
// said holds its plans and conclusions.
func (p *plan) evict() {
	var texts []int
	for _, x := range turns.Exchanges(p.in.History, p.pairs) {
		if p.tokens <= p.target {
			return
		}
		first := p.in.History[x.First()].Speaker
		switch {
		case x.Last() >= p.tail: // part of the exchange is in the tail
		case slices.ContainsFunc(x.Entries, func(i int) bool { return p.pinned[i] }):
		case x.Pairs > 0 || x.Pending || first == sdk.Tool:
			p.drop(x.Entries...)
			p.exchanges++
		case first == sdk.AI && !marks.IsGone(p.in.History[x.First()]):
			texts = append(texts, x.First())
		}
	}
	for _, i := range texts {
		if p.tokens <= p.target {
			return
		}
		p.drop(i)
		p.texts++
	}
}

// drop removes entries and subtracts their tokens.
func (p *plan) drop(entries ...int) {
	for _, i := range entries {
		p.gone[i] = true
		p.tokens -= p.counts[i]
		p.dropped++
	}
}

// result returns the entries that are left. It says so if they still count more than the target.
func (p *plan) result() sdk.CompressResult {
	left := make([]sdk.Content, 0, len(p.entries))
	for i, entry := range p.entries {
		if !p.gone[i] {
			left = append(left, entry)
		}
	}
	return sdk.Applied(left, sdk.CompressMetadata{
		BottomPreserved: new(len(p.entries) - p.tail),
		TargetMissed:    p.tokens > p.target,
		Counts: map[string]int64{
			"resultsSummarized": p.results,
			"exchangesDropped":  p.exchanges,
			"textsDropped":      p.texts,
			"entriesDropped":    p.dropped,
		},
	})
}
