package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
	"github.com/thresh-dev/thresh/internal/conform/statements"
	"github.com/thresh-dev/thresh/sdk"
)

// compressCall returns the call that a host would make when the sample has just reached the threshold. The sample
// must be curated. The context limit is derived from the sample's size and the plugin's own threshold, so each
// sample is in need of compression, whatever its size.
func compressCall(sm sample, info sdk.Info) prepare.CompressCall {
	current := sm.tokens()
	pending := conform.Pending(len(sm.entries), current)
	threshold := info.Trigger.DefaultThreshold
	set := sdk.DefaultCompressSettings()
	set.ContextLimit = conform.Limit(current+pending, threshold)
	// Smaller than the default, so samples of a few thousand tokens have words beyond the budget.
	set.UserMessageBudget = 2000
	// One at work and one open: strategies treat finished tasks differently, but need not show them.
	set.Todos = []sdk.Todo{
		{ID: "1", Content: "mend the parser", Status: "in_progress"},
		{ID: "2", Content: "run the tests", Status: "pending"},
	}
	c := prepare.CompressCall{Call: callOf(sm, "compress", 1), CompressParams: sdk.CompressParams{
		// On demand, so a strategy with a schedule of its own compresses too.
		CompressSettings: set, CurrentTokens: current, PendingTokens: pending, Threshold: threshold, Reason: sdk.ReasonManual,
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
	noOp     sdk.NoOpReason
	edits    int // entries with other blocks
	metadata sdk.CompressMetadata
	// given and after share the entries that stayed, by pointer.
	given  sample // curated
	after  sample // as given if nothing was done
	target float64
}

// compress makes one Compress and validates the answer with the host's own validator, so whatever passes here
// passes in the host too. Errors name the sample.
func compress(ctx context.Context, st *plugins.Strategy, sm sample, services sdk.Host) (compressed, error) {
	sm = sm.curated()
	return judgeCompress(ctx, st, sm, compressCall(sm, st.Info()), services)
}

func judgeCompress(
	ctx context.Context, st *plugins.Strategy, sm sample, in prepare.CompressCall, services sdk.Host,
) (compressed, error) {
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
	for i, p := range parts {
		if p.Edited {
			out.edits++
		}
		if p.Index < 0 {
			parts[i].Content = check.MarkMade(p.Content, st.Name())
		}
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
		c, err := compress(ctx, st, s.plain(), host)
		s.asked, s.idle = &host.tally, c.noOp
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
	for _, sm := range s.base() {
		if sm.name == samples.Plain {
			return sm
		}
	}
	panic("verify: no plain sample") // package samples guarantees one
}

func (c compressed) answer() conform.Answer {
	return conform.Answer{Given: shown(c.given.entries), Added: c.given.added, After: shown(c.after.entries), Compress: &c.metadata,
		NoOp: c.noOp, TokensBefore: c.given.tokens(), TokensAfter: c.after.tokens(), Target: c.target}
}

// said is the answer as it is compared with another one.
func (c compressed) said() conform.Compressed {
	return conform.CompressedTo(c.noOp, shown(c.after.entries), c.metadata)
}

func shown(entries []*history.Entry) []statements.Entry {
	out := make([]statements.Entry, len(entries))
	for i, e := range entries {
		out[i] = statements.Entry{ID: e.ID, Content: e.Content}
	}
	return out
}
