package history

import (
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// exchange is a run of entries that begins with calls, sorted by what they are. Blank entries of the AI are left out;
// every other entry is in exactly one of the lists.
type exchange struct {
	callers      []caller
	tools        []*Entry
	others       []*Entry
	matches      []bool // for each response in tools, in order: whether it answers a call
	interrupted  bool   // a person spoke
	lastAnswered int    // the position of the last caller that has an answered call; -1: none
}

type caller struct {
	entry      *Entry
	at         int   // its position in the exchange
	answered   []int // the blocks whose call has a response, ascending
	unanswered []content.ToolCall
}

// read pairs the calls and responses of an exchange alone: to a provider, calls before it do not exist. It overwrites x
// and match, whose memory it reuses: a history has thousands of exchanges.
func (x *exchange) read(entries []*Entry, match *turns.Matcher) {
	x.callers, x.tools, x.others, x.matches = x.callers[:0], x.tools[:0], x.others[:0], x.matches[:0]
	x.interrupted, x.lastAnswered = false, -1
	match.Reset()
	i := 0
	for ; i < len(entries) && entries[i].Content.Speaker == content.AI; i++ {
		// Providers refuse a blank entry, so it is not sent.
		if entries[i].Content.Blank() {
			continue
		}
		x.caller(entries[i], i)
		for j, block := range entries[i].Content.Blocks {
			if c, ok := block.(content.ToolCall); ok {
				match.Call(c.ID, c.Name, turns.At{Entry: i, Block: j})
			}
		}
	}
	for ; i < len(entries); i++ {
		if entries[i].Content.Speaker != content.Tool {
			x.others = append(x.others, entries[i])
			x.interrupted = x.interrupted || entries[i].Content.Speaker == content.Human
			continue
		}
		x.tools = append(x.tools, entries[i])
		for _, block := range entries[i].Content.Blocks {
			r, ok := block.(content.ToolResponse)
			if !ok {
				continue
			}
			at, ok := match.Response(r.CallID, r.ToolName)
			x.matches = append(x.matches, ok)
			if ok {
				k, _ := slices.BinarySearchFunc(x.callers, at.Entry, func(c caller, at int) int { return c.at - at })
				x.callers[k].answered = append(x.callers[k].answered, at.Block) // by position: models repeat ids
				x.lastAnswered = max(x.lastAnswered, at.Entry)
			}
		}
	}
	// Only now: responses may come in another order than their calls.
	for i := range x.callers {
		c := &x.callers[i]
		slices.Sort(c.answered)
		left := c.answered
		for j, block := range c.entry.Content.Blocks {
			call, ok := block.(content.ToolCall)
			switch {
			case !ok:
			case len(left) > 0 && left[0] == j:
				left = left[1:]
			default:
				c.unanswered = append(c.unanswered, call)
			}
		}
	}
}

// caller adds one in the memory of an earlier one.
func (x *exchange) caller(e *Entry, at int) {
	n := len(x.callers)
	x.callers = slices.Grow(x.callers, 1)[:n+1]
	c := &x.callers[n]
	*c = caller{entry: e, at: at, answered: c.answered[:0], unanswered: c.unanswered[:0]}
}
