package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
)

// SetSystem sets what the provider takes as system prompt or instructions before the history; it replaces what was set
// before, and nothing removes it. It is kept separate from the history: no strategy sees it, it counts with the pending
// tokens of every request, and [Prepared.System] returns it. It is counted here, once. Blocks that are no text are
// refused with an error that wraps [ErrInvalidEntry].
func (s *Session) SetSystem(ctx context.Context, blocks ...content.Block) error {
	for i, b := range blocks {
		if _, ok := b.(content.Text); !ok {
			return fmt.Errorf("session %q: system block %d: %w: a system prompt has blocks of text only", s.id, i,
				ErrInvalidEntry)
		}
	}
	system := slices.Clone(blocks)
	return s.change(ctx, "set the system prompt", func() error {
		tokens := 0
		if len(system) > 0 {
			counts, err := counting{s.currentCounter()}.All(ctx, []content.Content{systemEntry(system)})
			if err != nil {
				return fmt.Errorf("session %q: count the system prompt: %w", s.id, err)
			}
			tokens = counts[0].Tokens
		}
		s.log.SetSystem(system)
		_ = s.log.Flush() // tried again, as for entries: see append
		s.mu.Lock()
		defer s.mu.Unlock()
		s.system, s.systemTokens = system, tokens
		return nil
	})
}

// System returns what [Session.SetSystem] set; it must not be changed.
func (s *Session) System() []content.Block {
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

// systemEntry is a system prompt as it is counted: like a message.
func systemEntry(blocks []content.Block) content.Content {
	return content.Content{Speaker: content.Human, Blocks: blocks}
}
