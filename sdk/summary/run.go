package summary

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/turns"
)

// Range is the part of a history that a summary replaces: entries From up to, but not including, To. Both must be safe
// cuts, which separate no call from its response: see [Cut].
type Range struct{ From, To int }

// Result is the outcome of [Run]. Use [Result.Compressed] to apply it.
type Result struct {
	// NoOp is not empty if the range should stay: [sdk.NoOpNoGain] if the summary takes at least as many tokens as the
	// range, [sdk.NoOpTooFew] if nothing in the range says anything. The entries below are zero then.
	NoOp  sdk.NoOpReason
	Range Range
	// Summary and Acknowledgement stand for the range: an entry of a human and one of the AI.
	Summary, Acknowledgement sdk.Content
	// TokensBefore is what the range counts without pinned entries, TokensAfter what the two entries count, by the host's
	// tokenizer.
	TokensBefore, TokensAfter int
	// Counts are for [sdk.CompressMetadata.Counts].
	Counts map[string]int64
}

// Run has the host's model summarise a range of in.History. in.Model must not be nil, else the error is [ErrNoModel].
//
// The other errors are [ErrWindowTooSmall], a [*ReplyError] for an answer that cannot be used, and what the services of
// host return, wrapped. The history is never changed.
func Run(ctx context.Context, host sdk.Host, in sdk.CompressInput, r Range) (Result, error) {
	if r.From < 0 || r.To > len(in.History) || r.From > r.To {
		return Result{}, fmt.Errorf("summary: the range [%d, %d) is not in the history of %d entries", r.From, r.To,
			len(in.History))
	}
	if in.Model == nil {
		return Result{}, ErrNoModel
	}
	prompt, err := host.ResolvePrompt(ctx, PromptName)
	if err != nil {
		return Result{}, fmt.Errorf("the prompt %q: %w", PromptName, err)
	}
	// Of the whole history: a call in the range may have its response behind it.
	pairs := turns.Pair(in.History)
	s := scan(in, r, pairs)
	if len(s.pieces) == 0 && s.prior == "" {
		return Result{Range: r, NoOp: sdk.NoOpTooFew}, nil
	}
	a := &asker{host: host, in: in, window: newWindow(in), requests: requests{
		nonce:      nonce(s.pieces, s.prior),
		prompt:     prompt,
		todos:      listTodos(in.Todos),
		transcript: in.TranscriptPath,
		latest: slices.ContainsFunc(s.pieces,
			func(p piece) bool { return p.label == speakerLabel(sdk.Human)+latestLabel }),
	}}
	e := ending{in: in, r: r, s: &s, host: host}
	prior, err := prepare(ctx, a, &e)
	if err != nil {
		return Result{}, err
	}
	if e.minimum >= e.before {
		return e.noGain(), nil // even the shortest summary would be too long: nothing is asked
	}
	f := &fitter{in: in, pairs: pairs}
	parts, err := f.parts(s.pieces, a.window, prior)
	if err != nil {
		return Result{}, err
	}
	snapshot, err := a.fold(ctx, parts, s.prior)
	if err != nil {
		return Result{}, err
	}
	e.counts = map[string]int64{
		"modelCalls": a.calls, "parts": int64(len(parts)),
		"resultsReduced": f.reduced, "entriesCut": f.cut, "entriesLeftOut": f.left,
	}
	return e.result(ctx, snapshot)
}

// prepare counts, in one round trip to the host, everything that must be known before the model is asked. It returns
// the size of the snapshot to be updated, in tokens.
func prepare(ctx context.Context, a *asker, e *ending) (prior int, err error) {
	// The longest request that can occur: a middle part, with a prior snapshot, asked again for every possible reason.
	longest := errors.Join(ErrNoSnapshot, ErrTooLong, ErrEmpty)
	fixed := a.requests.build(part{number: maxParts - 1, of: maxParts}, " ", longest)
	entries := slices.Clone(fixed)
	entries = append(entries, human(e.s.prior))
	entries = append(entries, e.shortest(openTag+"\n"+closeTag)...)
	at := len(entries)
	for _, m := range e.s.draft.messages {
		if m.tokens < 0 {
			entries = append(entries, human(m.text))
		}
	}
	e.before = e.in.Tokens(e.r.From, e.r.To)
	rest := len(entries)
	if e.in.TokensIn == nil {
		entries = append(entries, e.in.History[e.r.From:e.r.To]...)
	}
	counts, err := measure(ctx, a.host, entries)
	if err != nil {
		return 0, err
	}
	for _, n := range counts[rest:] {
		e.before += n
	}
	for _, i := range turns.Pinned(e.in.History, e.r.From, e.r.To) {
		if e.before -= e.in.Tokens(i, i+1); e.in.TokensIn == nil {
			e.before -= counts[rest+i-e.r.From]
		}
	}
	for i, entry := range append(fixed, human(system)) {
		n := headingTokens
		if i < len(fixed) {
			n += counts[i]
		}
		a.window.fixed += max(n, minTokens(textOf(entry))+headingTokens)
	}
	prior = max(counts[len(fixed)], minTokens(e.s.prior))
	e.minimum = counts[len(fixed)+1] + counts[len(fixed)+2]
	for i := range e.s.draft.messages {
		if m := &e.s.draft.messages[i]; m.tokens < 0 {
			m.tokens = counts[at] + labelTokens
			at++
		}
	}
	if e.s.prior == "" {
		return 0, nil
	}
	if prior > a.window.carried { // too long to be carried on: it is part of the record, and may be cut there
		e.s.pieces[e.s.priorPiece] = newPiece(e.s.priorAt, "earlier snapshot", e.s.prior)
		e.s.prior = ""
		return 0, nil
	}
	return prior, nil
}

func textOf(entry sdk.Content) string { return entry.Blocks[0].(sdk.Text).Text }
