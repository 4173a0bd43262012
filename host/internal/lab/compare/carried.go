package compare

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/pricing"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
)

// offer is what the tool thresh_recall adds to requests, in tokens of the host's tokenizer, and where in a recording;
// zero if the setting proxy.recall is off.
type offer struct {
	prompt int                // the tool and the instructions, in each request
	mark   int                // an id in the place of a result
	whole  map[resultKey]bool // the results as they were recorded
	large  map[string]bool    // calls with a result that is large enough for a mark
}

func newOffer(ctx context.Context, h *window.Host, entries []content.Content) (o offer, err error) {
	if !h.Config().Settings().Proxy.Recall {
		return o, nil
	}
	text := func(s string) content.Content {
		return content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: s}}}
	}
	const line = "[result removed]"
	counted, err := h.Count(ctx, []content.Content{text(mcp.Prompt()), text(line), text(line + marks.Recall("012345678901234"))})
	if err != nil {
		return o, err
	}
	o = offer{counted.Tokens(0), counted.Tokens(2) - counted.Tokens(1), map[resultKey]bool{}, map[string]bool{}}
	for _, e := range entries {
		for _, b := range e.Blocks {
			if r, ok := b.(content.ToolResponse); ok {
				if key, ok := keyOf(r); ok {
					o.whole[key] = true
				}
				o.large[r.CallID] = o.large[r.CallID] || history.Markable(r)
			}
		}
	}
	return o, nil
}

// carried follows how many results of the latest request have a mark, as the proxy gives them. The marks of an entry
// that did not change are not counted again.
type carried struct {
	offer
	known map[identity]int // the marks in entries that were sent before
	marks []int            // in each entry of the latest request
	total int
}

// extra is what a request has for the tool, in tokens: of its beginning, which is as it was sent before, and of the
// rest.
type extra struct{ stable, fresh int }

func (e extra) tokens() int { return e.stable + e.fresh }

// send takes the next request, of which the first stable entries are the same as in the previous one.
func (c *carried) send(history []content.Content, stable int) (e extra) {
	if c == nil || c.prompt == 0 {
		return e
	}
	stable = min(stable, len(c.marks), len(history))
	for _, n := range c.marks[stable:] {
		c.total -= n
	}
	e.stable = c.prompt + c.total*c.mark
	c.marks = c.marks[:stable]
	for _, entry := range history[stable:] {
		n := c.find(entry)
		c.marks = append(c.marks, n)
		c.total += n
		e.fresh += n * c.mark
	}
	return e
}

func (c *carried) find(entry content.Content) (n int) {
	if entry.Speaker != content.Tool {
		return 0
	}
	id := identify(entry)
	n, known := c.known[id]
	if known {
		return n
	}
	for _, b := range entry.Blocks {
		r, ok := b.(content.ToolResponse)
		if key, _ := keyOf(r); ok && c.large[r.CallID] && !c.whole[key] {
			n++
		}
	}
	c.known[id] = n
	return n
}

// cost prices what a request has for the tool as the rest of it, whose cost is given: its beginning comes from the
// cache if anything does.
func (e extra) cost(l *pricing.List, rest pricing.Cost) float64 {
	var p pricing.Prompt
	fresh := e.fresh
	if rest.CacheRead > 0 {
		p.CacheRead = e.stable
	} else {
		fresh += e.stable
	}
	if rest.CacheWrite >= rest.Uncached {
		p.CacheWrite = fresh
	} else {
		p.Uncached = fresh
	}
	return l.Cost(p).USD
}
