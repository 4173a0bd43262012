package window

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// services are what one Compress may ask the host for. Counts are remembered until the call is over, so that an entry that
// the strategy asked about is not counted again when it comes back.
type services struct {
	counter Counter
	purse   purse
	prompt  func(ctx context.Context, name string) (string, error)
	seed    maphash.Seed

	mu    sync.Mutex
	known map[uint64]int
}

func newServices(c Counter, s Settings) *services {
	return &services{counter: c, purse: purse{llm: s.LLM}, prompt: s.Prompt, seed: maphash.MakeSeed(), known: map[uint64]int{}}
}

func (s *services) EstimateTokens(ctx context.Context, entries []content.Content) ([]int, error) {
	return s.counts(ctx, entries)
}

// counts returns the entries' counts, from memory where they are known.
func (s *services) counts(ctx context.Context, entries []content.Content) ([]int, error) {
	counts := make([]int, len(entries))
	keys := make([]uint64, len(entries))
	var fresh []content.Content
	var at []int
	var buf []byte
	s.mu.Lock()
	for i, c := range entries {
		buf = c.AppendJSON(buf[:0])
		keys[i] = maphash.Bytes(s.seed, buf)
		if n, ok := s.known[keys[i]]; ok {
			counts[i] = n
			continue
		}
		fresh, at = append(fresh, c), append(at, i)
	}
	s.mu.Unlock()
	if len(fresh) == 0 {
		return counts, nil
	}
	counted, err := s.counter.All(ctx, fresh)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for j, i := range at {
		counts[i] = counted[j]
		s.known[keys[i]] = counted[j]
	}
	return counts, nil
}

func (s *services) Generate(ctx context.Context, req sdk.GenerateRequest, onText func(string)) (sdk.Generation, error) {
	return s.purse.generate(ctx, req, onText)
}

func (s *services) ResolvePrompt(ctx context.Context, name string) (string, error) {
	if s.prompt == nil {
		return "", sdk.ErrNotFound
	}
	return s.prompt(ctx, name)
}
