package journal

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// Lines returns the lines from first to last, from 1, of a block as it was added: what is around a passage. The error
// wraps [ErrNotRecorded] if there is no such block.
func Lines(ctx context.Context, in store.Sessions, key store.Key, t *tools.Taxonomy, entry string,
	block, first, last int) (search.Passage, error) {
	turn := 0
	var x marks.Exchange
	r := logReader{in: in, key: key}
	for step, err := range r.read(ctx, store.Choice{Kinds: []store.Kind{store.Added}}) {
		if err != nil {
			return search.Passage{}, err
		}
		for _, e := range step.added.Entries {
			if e.Content.Speaker == content.Human {
				turn++
			}
			calls := answered(&x, e)
			if e.ID != entry || block < 0 || block >= len(e.Content.Blocks) {
				continue
			}
			p := search.Lines(search.Text(e.Content.Blocks[block]), first, last)
			describe(&p, e, block, turn, calls, t)
			return p, nil
		}
	}
	return search.Passage{}, fmt.Errorf("session %q: block %d of %q: %w", key.ID, block, entry, ErrNotRecorded)
}

// answered returns the calls that an entry's results answer, by block.
func answered(x *marks.Exchange, e *history.Entry) (calls map[int]content.ToolCall) {
	x.Add(&e.Content, func(block int, call content.ToolCall) {
		if calls == nil {
			calls = map[int]content.ToolCall{}
		}
		calls[block] = call
	})
	return calls
}

func describe(p *search.Passage, e *history.Entry, block, turn int, calls map[int]content.ToolCall, t *tools.Taxonomy) {
	b := e.Content.Blocks[block]
	p.Entry, p.Block, p.Turn, p.Speaker, p.Kind = e.ID, block, turn, e.Content.Speaker, b.Kind()
	switch b := b.(type) {
	case content.ToolCall:
		p.Tool, p.Argument, p.Call = b.Name, search.Argument(t, b), b.ID
	case content.ToolResponse:
		p.Tool, p.Call = b.ToolName, b.CallID
		if call, ok := calls[block]; ok {
			p.Tool, p.Argument = call.Name, search.Argument(t, call)
		}
	}
}
