package prepare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/failure"
	"github.com/thresh-dev/thresh/sdk/content"
)

// ContextOverflowError says that the request is over the hard limit although every step was taken. A retry does not
// help before entries are removed or a setting changes.
type ContextOverflowError struct {
	// Tokens is the size of the history: the provider's count, if usage was reported. Pending is the size of the rest
	// of the request, Limit the hard limit.
	Tokens, Pending, Limit int
	Strategy               string
	Compress               outcome.Compress
	// Largest are the entries that count most, the largest first.
	Largest []outcome.LargeEntry
	// Kept are the largest of the entries that must stay, and KeptTokens what all of these count, if the request would
	// fit without them.
	Kept       []outcome.LargeEntry
	KeptTokens int
	// Ladder: making room without the strategy was tried too, and changed nothing, because it would not have been
	// enough.
	Ladder bool
	// Alone is what the provider would count for the request without any history, if that leaves the history no room:
	// no step was taken then. 0: there is room.
	Alone int
	// Held: no step was taken, because the model wants back the thinking that led to the calls which were just answered,
	// and takes it only behind what it was made behind.
	Held bool
}

// Missing is how many tokens must be removed.
func (e *ContextOverflowError) Missing() int { return e.Tokens + e.Pending - e.Limit }

func (e *ContextOverflowError) Describe() failure.Description {
	return failure.Description{Kind: failure.Overflow, Plugin: e.Strategy}
}

func (e *ContextOverflowError) Error() string {
	if e.Alone > 0 {
		return fmt.Sprintf("%s take %d of %d tokens, and the history has %d: nothing was removed, because that "+
			"would not help; shorten what is sent in addition to the history, or raise model.contextLimit",
			alonePart(e.Pending, e.Alone), e.Alone, e.Limit, max(0, e.Tokens+e.Pending-e.Alone))
	}
	if e.Held {
		return fmt.Sprintf("the request is %d tokens over the context limit: history %d + pending %d > %d; nothing was "+
			"removed, because the model takes back the thinking that led to the last calls only behind what it was made "+
			"behind: set the request's thinking to adaptive, or raise model.contextLimit",
			e.Missing(), e.Tokens, e.Pending, e.Limit)
	}
	did := "compressed"
	switch c := e.Compress; {
	case c.Reason == "":
		did = "was not asked, because what must stay does not fit"
	case c.NoOp == outcome.NoOpDoesNotPay:
		did = "could not free enough, so nothing was removed"
	case c.Kind == outcome.KindNoOp:
		did = fmt.Sprintf("had nothing to compress (%s)", c.NoOp)
	case c.Failed != "":
		did = fmt.Sprintf("failed (%s)", c.Failed)
	case c.Cooldown != nil:
		did = fmt.Sprintf("failed and is not tried again before %s (%s)",
			c.Cooldown.Until.Format(time.TimeOnly), c.Cooldown.Error)
	}
	if e.Ladder {
		did += ", and removing tool results, exchanges and old messages and shortening the last results " +
			"would not be enough"
	}
	var largest string
	if len(e.Largest) > 0 {
		largest = "; the largest in tokens: " + list(e.Largest)
	}
	todo := "shorten the last messages, raise model.contextLimit, or choose another compression.strategy"
	if len(e.Kept) > 0 {
		largest = fmt.Sprintf("; kept entries take %d tokens, the largest of them: %s", e.KeptTokens, list(e.Kept))
		todo = "keep less with compression.keep, compression.keepShare or <keep>, or raise model.contextLimit"
	}
	return fmt.Sprintf("the request is %d tokens over the context limit: history %d + pending %d > %d; %s %s%s; %s",
		e.Missing(), e.Tokens, e.Pending, e.Limit, e.Strategy, did, largest, todo)
}

func list(entries []outcome.LargeEntry) string {
	all := make([]string, len(entries))
	for i, entry := range entries {
		all[i] = entry.String()
	}
	return strings.Join(all, ", ")
}

func (t *turn) overflow() *ContextOverflowError {
	e := &ContextOverflowError{
		Tokens: t.outcome.Projected - t.req.Pending, Pending: t.req.Pending, Limit: t.outcome.Limits.Hard,
		Strategy: t.info.Name, Compress: t.outcome.Compress,
		Largest: largest(t.view.Entries), Ladder: t.req.Settings.Ladder,
	}
	if most, tokens := t.largestKept(); t.hostTokens(e.Missing()) <= tokens {
		e.Kept, e.KeptTokens = most, tokens
	}
	return e
}

// largest returns the three entries that count most, for people who have to make room by hand.
func largest(entries []*history.Entry) []outcome.LargeEntry {
	all := make([]outcome.LargeEntry, 0, len(entries))
	for i, e := range entries {
		large := outcome.LargeEntry{Index: i, EntryID: e.ID, Speaker: e.Content.Speaker, Tokens: e.Tokens,
			Rule: check.KeptBy(e.Content)}
		for _, b := range e.Content.Blocks {
			if r, ok := b.(content.ToolResponse); ok && large.Tool == "" {
				large.Tool = r.ToolName
			}
		}
		all = append(all, large)
	}
	slices.SortStableFunc(all, func(a, b outcome.LargeEntry) int { return cmp.Compare(b.Tokens, a.Tokens) })
	return slices.Clone(all[:min(len(all), 3)])
}
