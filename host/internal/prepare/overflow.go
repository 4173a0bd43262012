package prepare

import (
	"fmt"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
)

// ContextOverflowError says that the request is too large for the model although everything was done.
type ContextOverflowError struct {
	// Tokens of the history, Pending tokens of the request, and the hard limit. If the provider's counts were reported, Tokens
	// is what it will count.
	Tokens, Pending, Limit int
	Strategy               string
	Compress               outcome.Compress
	// Holders are the entries that count most, the largest first.
	Holders []outcome.LargeEntry
	// Ladder says that making room without a strategy was tried too. It did not change anything, as that would not have been
	// enough.
	Ladder bool
}

// Missing is how many tokens have to go.
func (e *ContextOverflowError) Missing() int { return e.Tokens + e.Pending - e.Limit }

func (e *ContextOverflowError) Error() string {
	did := "compressed"
	switch c := e.Compress; {
	case c.Kind == outcome.KindNoOp:
		did = fmt.Sprintf("had nothing to compress (%s)", c.NoOp)
	case c.Failed != "":
		did = fmt.Sprintf("failed (%s)", c.Failed)
	case c.Cooldown != nil:
		did = fmt.Sprintf("failed and is not tried again before %s (%s)", c.Cooldown.Until.Format(time.TimeOnly), c.Cooldown.Error)
	}
	if e.Ladder {
		did += ", and removing tool results, exchanges and old messages would not be enough"
	}
	var held string
	if len(e.Holders) > 0 {
		var all []string
		for _, h := range e.Holders {
			all = append(all, h.String())
		}
		held = "; the largest in tokens: " + strings.Join(all, ", ")
	}
	return fmt.Sprintf("the request is %d tokens over the context limit: history %d + pending %d > %d, after %s %s%s; shorten the last messages, raise model.contextLimit, or choose another compression.strategy",
		e.Missing(), e.Tokens, e.Pending, e.Limit, e.Strategy, did, held)
}

func (t *turn) overflow(view history.View) error {
	return &ContextOverflowError{
		Tokens: t.outcome.Projected - t.req.Pending, Pending: t.req.Pending, Limit: t.outcome.Limits.Hard,
		Strategy: t.info.Name, Compress: t.outcome.Compress, Holders: holders(view.Entries), Ladder: t.req.Settings.Ladder,
	}
}

// ineffective is the share of the tokens below which a rewrite has not gained anything worth having.
const ineffective = 0.05

// usualRungs puts the steps that every turn has into the ladder of a request that is over the hard limit after them.
func (t *turn) usualRungs() {
	o, c := t.outcome.Optimize, t.outcome.Compress
	if o.Removed+o.Replaced > 0 {
		t.outcome.Ladder = append(t.outcome.Ladder, outcome.LadderStep{
			Rung: outcome.RungOptimize, Entries: o.Removed + o.Replaced, TokensBefore: t.outcome.TokensBefore, TokensAfter: o.TokensAfter,
		})
	}
	if c.Kind == outcome.KindApplied {
		t.outcome.Ladder = append(t.outcome.Ladder, outcome.LadderStep{
			Rung: outcome.RungCompress, Entries: c.EntriesBefore - c.EntriesAfter, TokensBefore: c.TokensBefore, TokensAfter: c.TokensAfter,
		})
	}
}
