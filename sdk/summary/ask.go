package summary

import (
	"context"
	"errors"
	"fmt"

	"github.com/thresh-dev/thresh/sdk"
)

// asker sends the requests of one Run to the model, one after the other, since each updates the answer to the one before.
type asker struct {
	host     sdk.Host
	in       sdk.CompressInput
	window   window
	requests requests
	calls    int64 // attempts, also those that failed: budgets count them
	repaired bool  // the one second attempt was made
}

// fold has the model write the snapshot part by part; each answer is what the next request updates. One failed part
// fails the Run: a snapshot that lacks a part of the record would silently lose it.
func (a *asker) fold(ctx context.Context, parts []part, prior string) (string, error) {
	snapshot := prior
	for _, p := range parts {
		var err error
		if snapshot, err = a.ask(ctx, p, snapshot); err != nil {
			if p.of > 1 {
				return "", fmt.Errorf("part %d of %d: %w", p.number, p.of, err)
			}
			return "", err
		}
	}
	return snapshot, nil
}

// ask returns the snapshot for one part. A reply without a usable snapshot is asked for again, once per Run, because
// models get the form wrong now and then but rarely twice. An empty reply is not: the model had nothing to say, often
// because the provider filtered the answer, and a second request costs the whole prompt again.
func (a *asker) ask(ctx context.Context, p part, prior string) (string, error) {
	snapshot, err := a.try(ctx, p, prior, nil)
	var reply *ReplyError
	if !errors.As(err, &reply) || errors.Is(err, ErrEmpty) || a.repaired {
		return snapshot, err
	}
	a.repaired = true
	a.in.Log.Warn("the model's summary cannot be used; asking again", "reason", err)
	again, second := a.try(ctx, p, prior, reply.Err)
	if second != nil {
		return "", fmt.Errorf("%w; asked again: %w", err, second)
	}
	return again, nil
}

// try asks for the snapshot of one part once. refused is why the previous answer was not usable; nil on the first try.
func (a *asker) try(ctx context.Context, p part, prior string, refused error) (string, error) {
	answer, err := a.generate(ctx, a.requests.build(p, prior, refused))
	if err != nil {
		return "", err
	}
	snapshot, err := extract(answer.Text)
	// Only a snapshot that another part updates has to fit next to that part.
	if err == nil && p.number < p.of {
		err = a.checkCarried(ctx, snapshot)
	}
	switch {
	case errors.Is(err, ErrEmpty), errors.Is(err, ErrNoSnapshot), errors.Is(err, ErrTooLong):
		return "", &ReplyError{
			Model: answer.Model, FinishReason: answer.FinishReason, Bytes: len(answer.Text), Err: err,
		}
	}
	return snapshot, err
}

func (a *asker) generate(ctx context.Context, entries []sdk.Content) (sdk.Completion, error) {
	a.calls++
	answer, err := a.host.Generate(ctx, sdk.GenerateRequest{System: system, Entries: entries,
		MaxOutputTokens: a.window.answer}, nil)
	if err != nil {
		return answer, fmt.Errorf("asking the model %s for a summary: %w", a.in.Model.Name, err)
	}
	return answer, nil
}

// checkCarried returns [ErrTooLong] if a snapshot leaves too little room for the next part. The larger of the host's
// count and a lower bound is used, because the model may have another tokenizer.
func (a *asker) checkCarried(ctx context.Context, snapshot string) error {
	counts, err := measure(ctx, a.host, []sdk.Content{human(snapshot)})
	if err != nil {
		return err
	}
	if n := max(counts[0], minTokens(snapshot)); n > a.window.carried {
		return fmt.Errorf(
			"%w: it has %d tokens, and at most %d can go on to the next part", ErrTooLong, n, a.window.carried,
		)
	}
	return nil
}

// measure counts the tokens of entries with the host's tokenizer, in one round trip.
func measure(ctx context.Context, host sdk.Host, entries []sdk.Content) ([]int, error) {
	counts, err := host.EstimateTokens(ctx, entries)
	if err != nil {
		return nil, fmt.Errorf("counting %d entries: %w", len(entries), err)
	}
	if len(counts) != len(entries) {
		return nil, fmt.Errorf("the host counted %d entries, but was asked for %d", len(counts), len(entries))
	}
	return counts, nil
}
