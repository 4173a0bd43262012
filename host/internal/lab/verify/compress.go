package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/testkit/samples"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// compressCall is what a host sends that is over the threshold with the sample, which must be curated.
func compressCall(sm sample, info contract.Info) prepare.CompressCall {
	current := sm.tokens()
	threshold := info.Trigger.DefaultThreshold
	set := contract.DefaultCompressSettings()
	// The threshold is just reached; 100 at least, so that the target is not nothing.
	set.ContextLimit = max(int(float64(current)/threshold), 100)
	set.UserMessageBudget = 2000
	set.Todos = []contract.Todo{
		{ID: "1", Content: "mend the parser", Status: "in_progress"},
		{ID: "2", Content: "run the tests", Status: "pending"},
	}
	c := prepare.CompressCall{Call: callOf(sm, "compress", 1), CompressParams: contract.CompressParams{
		CompressSettings: set, CurrentTokens: current, Threshold: threshold, Reason: contract.ReasonThreshold,
	}}
	if info.RequiresLLM {
		c.Model = &model
	}
	return c
}

// compressed is what a Compress came to.
type compressed struct {
	noOp     contract.NoOpReason
	metadata contract.CompressMetadata
	given    sample // curated
	after    sample // as given if nothing was done
	target   float64
}

// compress asks for a smaller history and has the answer judged as the host judges it.
func compress(ctx context.Context, st *plugins.Strategy, sm sample, services contract.Host) (compressed, error) {
	sm = sm.curated()
	in := compressCall(sm, st.Info())
	a, err := st.Compress(ctx, in, services)
	if err != nil {
		return compressed{}, on(&sm, err)
	}
	out := compressed{noOp: a.NoOp, metadata: a.Metadata, given: sm, after: sm, target: in.Target()}
	if a.NoOp != "" {
		return out, nil
	}
	parts, err := check.Compress(contentsOf(sm.entries), a.Pieces)
	if err != nil {
		return compressed{}, on(&sm, fmt.Errorf("the host refuses the answer: %w", err))
	}
	out.after = applied(sm, parts)
	return out, nil
}

// compressing returns the plugin, after a first Compress that shows that it works at all.
func (s *suite) compressing(ctx context.Context) (*plugins.Strategy, error) {
	st, err := s.strategy(ctx)
	if err != nil {
		return nil, err
	}
	if s.asked == nil {
		host := &services{}
		_, err := compress(ctx, st, s.plain(), host)
		s.asked = &host.tally
		if unusable(st, host, err) {
			s.unusable = err
		}
	}
	if s.unusable != nil {
		return nil, skipped("it cannot use what the scripted model answers: " + sentence(s.unusable))
	}
	return st, nil
}

// unusable reports whether a strategy failed after it got an answer of the model. What a strategy asks a model, and
// which answer it wants, is its own affair.
func unusable(st *plugins.Strategy, host *services, err error) bool {
	return st.Info().RequiresLLM && host.tally.generations.Load() > 0 && errors.Is(err, plugins.ErrStrategy)
}

func (s *suite) plain() sample {
	for _, sm := range s.small() {
		if sm.name == samples.Plain {
			return sm
		}
	}
	panic("verify: no plain session") // it is one of them
}

// gone counts entries of people whose words are not in the new history: neither kept, nor in an entry that is new.
func gone(c compressed) (lost, of int) {
	said := make(map[string]bool)
	old := make(map[*history.Entry]bool, len(c.given.entries))
	for _, e := range c.given.entries {
		old[e] = true
	}
	kept := make(map[*history.Entry]bool, len(c.after.entries))
	var fresh strings.Builder
	for _, e := range c.after.entries {
		if kept[e] = true; old[e] {
			continue
		}
		for _, t := range texts(e.Content) {
			said[t] = true
			if fresh.Len() < mostQuotes {
				fresh.WriteString(t)
			}
		}
	}
	for _, e := range c.given.entries {
		if e.Content.Speaker != content.Human || !e.Content.HasContent() {
			continue
		}
		of++
		if !kept[e] && slices.ContainsFunc(texts(e.Content), func(t string) bool { return !said[t] && !strings.Contains(fresh.String(), t) }) {
			lost++
		}
	}
	return lost, of
}

// mostQuotes bounds how much text of new entries is searched for quotes, in bytes.
const mostQuotes = 256 << 10

// announced is how many entries the metadata says are gone, at the most generous reading.
func announced(c compressed) int {
	m, most := c.metadata, 0
	if m.MiddleCompressed != nil {
		most = *m.MiddleCompressed
	}
	if m.TopPreserved != nil || m.BottomPreserved != nil {
		rest := len(c.given.entries)
		for _, n := range []*int{m.TopPreserved, m.BottomPreserved} {
			if n != nil {
				rest -= *n
			}
		}
		most = max(most, rest)
	}
	for _, n := range m.Counts {
		most = max(most, int(n))
	}
	return most
}
