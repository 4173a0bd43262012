package proxy

import (
	"context"

	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/door/proxy/body"
	"github.com/thresh-dev/thresh/sdk/content"
)

// markTokens is about what the mark behind a removed result counts: the words, and an id of 30 characters.
const markTokens = 25

// mark puts ids into the places of removed results, and keeps the results, to return them by these ids. It returns
// what the marks count, in tokens: the host does not see them.
func (b *branch) mark(p *body.Plan) (tokens int) {
	results := p.MarkRecall(mcp.Mark)
	b.thread.mu.Lock()
	defer b.thread.mu.Unlock()
	if b.recalled == nil {
		b.recalled = make(map[string]content.ToolResponse, len(results))
	}
	for _, r := range results {
		b.recalled[r.CallID] = r
	}
	return len(results) * markTokens
}

// recallFor finds results of an owner's conversations by the ids of their calls, in the one that was used last first:
// ids of calls without one of the provider's are positions, which other conversations have too.
func (s *Server) recallFor(owner string) func(context.Context, string) ([]content.Content, error) {
	return func(_ context.Context, call string) ([]content.Content, error) {
		for _, b := range s.threads.all() {
			b.thread.mu.Lock()
			r, ok := b.recalled[call]
			b.thread.mu.Unlock()
			if ok && b.thread.identity.owner == owner {
				return []content.Content{{Speaker: content.Tool, Blocks: []content.Block{r}}}, nil
			}
		}
		return nil, nil
	}
}
