package prepare

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// services implement [sdk.Host] for one Compress.
//
// Counts are cached per block until the call is over: a strategy usually asks for the count of what it then returns,
// and most of that is blocks of the history, which are already counted.
type services struct {
	counter Counter
	frame   int // tokens of an entry without blocks
	budget  modelBudget
	prompt  func(ctx context.Context, name string) (string, error)
	seed    maphash.Seed

	mu      sync.Mutex
	known   map[uint64]int32 // tokens by the key of a block; nil until the first count
	counted []*history.Entry // what the strategy was sent
}

// newServices hashes nothing yet: many strategies ask for no count.
func newServices(c Counter, s Settings, sent []*history.Entry) *services {
	return &services{
		counter: c, frame: c.Entry(content.Content{}), budget: modelBudget{llm: s.LLM}, prompt: s.Prompt,
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

// counts returns the counts of entries, from the cache if possible. It counts the other blocks in one go, without the
// lock.
func (s *services) counts(ctx context.Context, entries []content.Content) ([]history.Count, error) {
	counts := make([]history.Count, len(entries))
	type place struct {
		key          uint64
		entry, block int
	}
	var fresh []content.Content // the blocks to be counted, one per entry
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
	// Two requests may count the same block; they get the same number.
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
		// The counter counts whole entries: the frame around the block is subtracted again.
		n := int32(counted[k].Tokens - s.frame)
		s.known[p.key] = n
		counts[p.entry].Blocks[p.block] = n
		counts[p.entry].Tokens += int(n)
	}
	return counts, nil
}

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

// key identifies a block by a 64-bit hash of its JSON. buf is overwritten, and returned for reuse. A collision would
// give a wrong count; the random seed keeps a plugin from making one.
func (s *services) key(b content.Block, buf []byte) (uint64, []byte) {
	buf = content.AppendBlock(buf[:0], b)
	return maphash.Bytes(s.seed, buf), buf
}

func (s *services) Generate(
	ctx context.Context, req sdk.GenerateRequest, onText func(string),
) (sdk.Completion, error) {
	// What is counted here is in the cache if the strategy has asked for it.
	counts, err := s.EstimateTokens(ctx, req.Entries)
	if err != nil {
		return sdk.Completion{}, err
	}
	prompt := s.counter.Entry(content.Content{Blocks: []content.Block{content.Text{Text: req.System}}})
	for _, n := range counts {
		prompt += n
	}
	return s.budget.generate(ctx, req, prompt, onText)
}

func (s *services) ResolvePrompt(ctx context.Context, name string) (string, error) {
	// For tests and hosts that have no prompts.
	if s.prompt == nil {
		return "", sdk.ErrNotFound
	}
	return s.prompt(ctx, name)
}
