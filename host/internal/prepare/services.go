package prepare

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// services are what one Compress may ask the host for. Counts are remembered until the call is over, block by block, so that
// what the strategy asked about is not counted again when it comes back.
type services struct {
	counter Counter
	frame   int // what an entry without blocks counts
	purse   purse
	prompt  func(ctx context.Context, name string) (string, error)
	seed    maphash.Seed

	mu      sync.Mutex
	known   map[uint64]int32 // of blocks; nil until somebody asks
	counted []*history.Entry // what the strategy was sent: these were counted when they came in
}

func newServices(c Counter, s Settings, sent []*history.Entry) *services {
	return &services{
		counter: c, frame: c.Entry(content.Content{}), purse: purse{llm: s.LLM}, prompt: s.Prompt,
		seed: maphash.MakeSeed(), counted: sent,
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
	s.recall()
	for i, c := range entries {
		counts[i] = history.Count{Tokens: s.frame, Blocks: make([]int32, len(c.Blocks))}
		for j, b := range c.Blocks {
			var key uint64
			key, buf = s.key(b, buf)
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

// recall takes in the counts of the history, once.
func (s *services) recall() {
	if s.known != nil {
		return
	}
	s.known = make(map[uint64]int32, len(s.counted))
	var buf []byte
	for _, e := range s.counted {
		for i, n := range e.Blocks {
			var key uint64
			key, buf = s.key(e.Content.Blocks[i], buf)
			s.known[key] = n
		}
	}
}

// key stands for a block. buf is written over, and returned to be used again.
func (s *services) key(b content.Block, buf []byte) (uint64, []byte) {
	buf = content.AppendBlock(buf[:0], b)
	return maphash.Bytes(s.seed, buf), buf
}

func (s *services) Generate(ctx context.Context, req contract.GenerateRequest, onText func(string)) (contract.Completion, error) {
	return s.purse.generate(ctx, req, onText)
}

func (s *services) ResolvePrompt(ctx context.Context, name string) (string, error) {
	if s.prompt == nil {
		return "", contract.ErrNotFound
	}
	return s.prompt(ctx, name)
}
