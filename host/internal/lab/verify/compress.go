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

// compressCall returns the call that a host would make when the sample has just reached the threshold. The sample
// must be curated. The context limit is derived from the sample's size and the plugin's own threshold, so each
// sample is in need of compression, whatever its size.
func compressCall(sm sample, info contract.Info) prepare.CompressCall {
	current := sm.tokens()
	threshold := info.Trigger.DefaultThreshold
	set := contract.DefaultCompressSettings()
	// The minimum of 100 tokens keeps the target of tiny samples above zero.
	set.ContextLimit = max(int(float64(current)/threshold), 100)
	// Smaller than the default, so samples of a few thousand tokens have words beyond the budget.
	set.UserMessageBudget = 2000
	// One at work and one open: strategies treat finished tasks differently, but need not show them.
	set.Todos = []contract.Todo{
		{ID: "1", Content: "mend the parser", Status: "in_progress"},
		{ID: "2", Content: "run the tests", Status: "pending"},
	}
	c := prepare.CompressCall{Call: callOf(sm, "compress", 1), CompressParams: contract.CompressParams{
		// On demand, so a strategy with a schedule of its own compresses too.
		CompressSettings: set, CurrentTokens: current, Threshold: threshold, Reason: contract.ReasonManual,
	}}
	// Hosts name the model only to strategies that declare requires_llm. Others must cope without.
	if info.RequiresLLM {
		c.Model = &model
	}
	return c
}

// compressed is the outcome of one Compress that passed the host's validation.
type compressed struct {
	// "": something was done
	noOp     contract.NoOpReason
	metadata contract.CompressMetadata
	// given and after share the entries that stayed, by pointer.
	given  sample // curated
	after  sample // as given if nothing was done
	target float64
}

// compress makes one Compress and validates the answer with the host's own validator, so whatever passes here
// passes in the host too. Errors name the sample.
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

// compressing returns the plugin after a first Compress, whose requests to services it remembers in s.asked. If that
// call shows that the strategy cannot work with the scripted model, all checks on Compress are skipped rather than
// failed.
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

// unusable reports whether a strategy failed after the model had answered. Which question a strategy asks and which
// form of answer it needs is its own business; the scripted answer suits the standard prompt only. A failure of this
// kind says nothing about the plugin.
func unusable(st *plugins.Strategy, host *services, err error) bool {
	return st.Info().RequiresLLM && host.tally.generations.Load() > 0 && errors.Is(err, plugins.ErrStrategy)
}

// plain returns the sample without peculiarities, for checks in which the history is not the point.
func (s *suite) plain() sample {
	for _, sm := range s.small() {
		if sm.name == samples.Plain {
			return sm
		}
	}
	panic("verify: no plain sample") // package samples guarantees one
}

// gone counts the human entries of the given history whose words are not in the new one, and all human entries. An
// entry is not lost if it was kept, or if each of its texts is quoted in an entry that the strategy made, whole or as
// part of a longer text. Entries are compared by identity, as applied keeps the pointers of entries that stay.
func gone(c compressed) (lost, of int) {
	// Texts of new entries, for whole quotes; fresh is the same as one text, for parts of longer ones.
	said := make(map[string]bool)
	old := make(map[*history.Entry]bool, len(c.given.entries))
	for _, e := range c.given.entries {
		old[e] = true
	}
	kept := make(map[*history.Entry]bool, len(c.after.entries))
	var fresh strings.Builder
	for _, e := range c.after.entries {
		// An entry that the answer edited is a new pointer, and is looked through like one that it made.
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
		missing := func(t string) bool { return !said[t] && !strings.Contains(fresh.String(), t) }
		if !kept[e] && slices.ContainsFunc(texts(e.Content), missing) {
			lost++
		}
	}
	return lost, of
}

// mostQuotes limits how much text of new entries is searched for quotes, in bytes. The search is quadratic, and a
// summary is far smaller; a strategy that copies megabytes keeps the entries anyway.
const mostQuotes = 256 << 10

// announced returns how many entries the metadata reports as gone, by the most generous reading of its fields: any
// count may be the one that covers human entries. The check is about silence, not about bookkeeping.
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
