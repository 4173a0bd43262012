package verify

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/internal/testkit/statements"
	"github.com/thresh-dev/thresh/sdk"
)

// checkStatements demands that what a strategy writes into a history is true, as far as that can be told of sentences
// that are the strategy's own: text may only make place for whole lines in square brackets, and those in the words of
// the strategies that ship must hold, such as "[… 3 lines omitted]" or "[Earlier inclusion of a.go removed — included
// again later]". A model believes them.
func checkStatements(ctx context.Context, s *suite) (string, error) {
	read := 0
	judge := func(given, after sample) error {
		c := statements.New(statements.Options{Root: workspace, Foreign: true})
		c.Add(shown(given.entries)...)
		r := c.Check(shown(after.entries))
		read += len(r.All)
		for _, f := range r.False() {
			return on(&given, fmt.Errorf("entry %s says %.200q, but %s", f.Entry, f.Sentence, f.Why))
		}
		return nil
	}
	st, err := s.strategy(ctx)
	if err != nil {
		return "", err
	}
	if st.Info().Trigger.Mode == sdk.ModeContinuous {
		for _, sm := range s.small() {
			o, err := optimize(ctx, st, sm, "statements", 1)
			if err == nil {
				err = judge(sm, o.after)
			}
			if err != nil {
				return "", err
			}
		}
	}
	n, err := s.eachCompressed(ctx, false, func(c compressed) error { return judge(c.given, c.after) })
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d histories, %d sentences", n, read), nil
}

// shown are entries as the checker of statements takes them.
func shown(entries []*history.Entry) []statements.Entry {
	out := make([]statements.Entry, len(entries))
	for i, e := range entries {
		out[i] = statements.Entry{ID: e.ID, Content: e.Content}
	}
	return out
}
