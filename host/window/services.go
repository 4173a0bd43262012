package window

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/thresh-dev/thresh/host/history"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// services are what one Compress may ask the host for. Counts are remembered until the call is over, block by block, so that
// what the strategy asked about is not counted again when it comes back.
type services struct {
	counter Counter
	frame   int // what an entry without blocks counts
	purse   purse
	prompt  func(ctx context.Context, name string) (string, error)
	seed    maphash.Seed

	mu    sync.Mutex
	known map[uint64]int32 // of blocks
}

func newServices(c Counter, s Settings) *services {
	return &services{
		counter: c, frame: c.Entry(content.Content{}), purse: purse{llm: s.LLM}, prompt: s.Prompt,
		seed: maphash.MakeSeed(), known: map[uint64]int32{},
	}
}

func (s *services) EstimateTokens(ctx context.Context, entries []content.Content) ([]int, error) {
	counts, err := s.counts(ctx, entries)
	tokens := make([]int, len(counts))
	for i, n := range counts {
		tokens[i] = n.Tokens
	}
	return tokens, err
}

// counts returns the entries' counts, from memory where they are known.
func (s *services) counts(ctx context.Context, entries []content.Content) ([]history.Count, error) {
	counts := make([]history.Count, len(entries))
	type place struct {
		key          uint64
		entry, block int
	}
	var fresh []content.Content // of one block each
	var places []place
	var buf []byte
	s.mu.Lock()
	for i, c := range entries {
		counts[i] = history.Count{Tokens: s.frame, Blocks: make([]int32, len(c.Blocks))}
		for j, b := range c.Blocks {
			buf = content.AppendBlock(buf[:0], b)
			key := maphash.Bytes(s.seed, buf)
			n, ok := s.known[key]
			if !ok {
				fresh = append(fresh, content.Content{Speaker: c.Speaker, Blocks: c.Blocks[j : j+1]})
				places = append(places, place{key, i, j})
				continue
			}
			counts[i].Blocks[j] = n
			counts[i].Tokens += int(n)
		}
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
	for k, p := range places {
		n := int32(counted[k].Tokens - s.frame)
		s.known[p.key] = n
		counts[p.entry].Blocks[p.block] = n
		counts[p.entry].Tokens += int(n)
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
