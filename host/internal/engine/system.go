package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/tokens"
	"github.com/thresh-dev/thresh/sdk/content"
)

// SetSystem sets what the provider takes as system prompt or instructions before the history; it replaces what was set
// before, and nothing removes it. It is kept separate from the history: no strategy sees it, it counts with the pending
// tokens of every request, and [Prepared.System] returns it. It is counted here, once. Blocks that are no text are
// refused with an error that wraps [ErrInvalidEntry].
func (s *Session) SetSystem(ctx context.Context, blocks ...content.Block) error {
	for i, b := range blocks {
		if _, ok := b.(content.Text); !ok {
			return fmt.Errorf("session %q: system block %d: %w: a system prompt has blocks of text only", s.key.ID, i,
				ErrInvalidEntry)
		}
	}
	system := slices.Clone(blocks)
	return s.change(ctx, "set the system prompt", func() error {
		counted := countSystem(s.currentCounter(), system)
		s.log.SetSystem(system)
		_ = s.log.Flush() // tried again, as for entries: see append
		s.mu.Lock()
		defer s.mu.Unlock()
		s.system, s.systemTokens = system, counted
		return nil
	})
}

// System returns what [Session.SetSystem] set; it must not be changed.
func (s *Session) System() []content.Block {
	defer s.entered("system")()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.system
}

// SystemTokens returns what the system prompt counts.
func (s *Session) SystemTokens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.systemTokens
}

// pendingTokens adds the system prompt to what a request holds in addition to the history.
func (s *Session) pendingTokens(others int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(max(0, others), maxPending-s.systemTokens) + s.systemTokens
}

// countSystem returns the tokens of a system prompt, which counts like a message; none is 0.
func countSystem(counter *tokens.Counter, blocks []content.Block) int {
	if len(blocks) == 0 {
		return 0
	}
	return counter.Entry(content.Content{Speaker: content.Human, Blocks: blocks})
}
