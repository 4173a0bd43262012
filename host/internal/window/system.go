package window

import (
	"context"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
)

// SetSystem replaces the system prompt that the provider takes before the history. It is separate from the history: no
// strategy sees or removes it, it counts with the pending tokens of every request, and [Session.System] returns it.
// Blocks other than text are refused with an error that wraps [ErrInvalidEntry].
func (s *Session) SetSystem(ctx context.Context, blocks ...content.Block) error {
	for i, b := range blocks {
		if _, ok := b.(content.Text); !ok {
			return fmt.Errorf("session %q: system block %d: %w: a system prompt has blocks of text only", s.key.ID, i,
				ErrInvalidEntry)
		}
	}
	system := slices.Clone(blocks)
	return s.Change(ctx, "set the system prompt", func() error {
		counted := s.currentCounter().System(system)
		s.Journal.SetSystem(system)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.system, s.systemTokens = system, counted
		return nil
	})
}

// System returns what [Session.SetSystem] set; it must not be changed.
func (s *Session) System() ([]content.Block, error) {
	leave, err := s.Enter()
	defer leave()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.system, nil
}

// SystemTokens returns the token count of the system prompt, which stays in memory.
func (s *Session) SystemTokens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.systemTokens
}

func (s *Session) pendingTokens(others int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(max(0, others), maxPending-s.systemTokens) + s.systemTokens
}
