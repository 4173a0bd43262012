package summary

import (
	"context"
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// The share of what a snapshot saves that may be spent again on the user's words (a half) and on facts (a quarter): a
// summary that saves nearly nothing would be asked for again at once.
const (
	wordsShare = 2
	factsShare = 4
	maxFacts   = 6000 // bytes, however much the snapshot saves
)

// ending builds the result of a Run from the model's snapshot. It counts tokens by the host's tokenizer, as the host
// decides by them whether the answer is a gain.
type ending struct {
	in      sdk.CompressInput
	r       Range
	s       *scanned
	host    sdk.Host
	before  int // what the range counts, without what is pinned
	minimum int // what the shortest possible summary counts: if it is no gain, the model is not asked
	counts  map[string]int64
}

func (e *ending) noGain() Result {
	return Result{Range: e.r, NoOp: sdk.NoOpNoGain, TokensBefore: e.before, Counts: e.counts}
}

// shortest returns the two entries with only the mandatory content besides the snapshot: the user's last message, if it
// is in the range, and the pointer to the transcript. If even this is no gain, no other choice can be.
func (e *ending) shortest(snapshot string) []sdk.Content {
	e.s.draft.snapshot = snapshot
	keep, kept := choose(e.s.draft.messages, 0)
	return []sdk.Content{e.s.draft.compose(keep, kept, 0), acknowledge("", nil)}
}

// result builds the entries around a snapshot. The mandatory content is measured first, and a share of what is saved
// pays for the rest. If that turns out too long after all, the shortest form is used: two exact counts suffice, without
// searching.
func (e *ending) result(ctx context.Context, snapshot string) (Result, error) {
	short := e.shortest(snapshot)
	counts, err := measure(ctx, e.host, short)
	if err != nil {
		return Result{}, err
	}
	shortTokens := counts[0] + counts[1]
	gain := e.before - shortTokens
	if gain <= 0 {
		return e.noGain(), nil
	}
	messages := e.s.draft.messages
	budget := gain / wordsShare
	for _, m := range messages {
		if m.latest {
			budget += m.tokens // it is in the shortest already
		}
	}
	keep, kept := choose(messages, min(e.in.UserMessageBudget, budget))
	long := []sdk.Content{
		e.s.draft.compose(keep, kept, min(gain/factsShare*2, maxFacts)), // two bytes a token, at the least
		acknowledge(e.s.latest, e.in.Todos),
	}
	if counts, err = measure(ctx, e.host, long); err != nil {
		return Result{}, err
	}
	entries, tokens := long, counts[0]+counts[1]
	if tokens >= e.before {
		entries, tokens = short, shortTokens
		_, kept = choose(messages, 0)
	}
	// The conformance check reads such counts: words that are gone must be counted.
	e.counts["userMessagesKept"] = int64(kept)
	e.counts["userMessagesSummarized"] = int64(len(messages) - kept)
	return Result{
		Range: e.r, Summary: entries[0], Acknowledgement: entries[1],
		TokensBefore: e.before, TokensAfter: tokens, Counts: e.counts,
	}, nil
}

// Compressed returns the history of in with the two entries in place of the range, or the no-op. in must be the input
// that the result was made from. in.History is not changed.
func (r Result) Compressed(in sdk.CompressInput) sdk.CompressResult {
	if r.NoOp != "" {
		out := sdk.NoOp(r.NoOp)
		out.Metadata = sdk.CompressMetadata{LLMCallMade: r.Counts["modelCalls"] > 0, Counts: r.Counts}
		return out
	}
	n := len(in.History)
	history := slices.Clone(in.History[:r.Range.From])
	tokens := in.Tokens(0, r.Range.From) + r.TokensAfter + in.Tokens(r.Range.To, n)
	// Pinned entries were summarised, and are kept as they are. What a person said last, and what follows, stands behind
	// the summary: it is what the model answers.
	behind := r.Range.To
	if last := LastMessage(in.History); last >= r.Range.From && last < r.Range.To && in.History[last].Pinned() {
		behind = max(turns.CutBackward(in.History, last), r.Range.From)
	}
	var later []sdk.Content
	for _, i := range turns.Pinned(in.History, r.Range.From, r.Range.To) {
		if tokens += in.Tokens(i, i+1); i < behind {
			history = append(history, in.History[i])
		} else {
			later = append(later, in.History[i])
		}
	}
	history = slices.Concat(history, []sdk.Content{r.Summary, r.Acknowledgement}, later, in.History[r.Range.To:])
	return sdk.Applied(history, sdk.CompressMetadata{
		LLMCallMade:      true,
		TopPreserved:     new(r.Range.From),
		BottomPreserved:  new(n - r.Range.To),
		MiddleCompressed: new(r.Range.To - r.Range.From),
		TargetMissed:     float64(tokens) > in.Target(),
		Counts:           r.Counts,
	})
}
