package verify

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/conform/samples"
)

// checkCompressPure demands that a Compress depends on its request alone. Two histories are compressed again and again
// by a process that had no other call, in two sessions. Unlike an Optimize, a Compress may answer at random: where two
// answers differ, another process has to agree with the first one.
func checkCompressPure(ctx context.Context, s *suite) (string, error) {
	if _, err := s.compressing(ctx); err != nil {
		return "", err
	}
	all := []sample{s.plain(), newSample(samples.Mixed(samples.Matters(), 1))}
	ask := func(st *plugins.Strategy, sm sample, session string) (conform.Compressed, error) {
		sm = sm.curated()
		in := compressCall(sm, st.Info())
		in.SessionID = session
		got, err := judgeCompress(ctx, st, sm, in, &services{})
		return said(got, err)
	}
	st, end, err := s.fresh(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	var found findings
	first := make([]conform.Compressed, len(all))
	done, random := 0, 0
	for round, session := range []string{"a", "b", "a"} {
		for i, sm := range all {
			got, err := ask(st, sm, session)
			switch {
			case err != nil:
				return "", err
			case round == 0:
				if first[i] = got; got.Did() {
					done++
				}
				continue
			case got == first[i]:
				continue
			}
			other, end, err := s.fresh(ctx)
			if err != nil {
				return "", err
			}
			alone, err := ask(other, sm, "a")
			if end(); err != nil {
				return "", err
			}
			if alone == first[i] {
				found.judged(sm.name, first[i].Different(conform.ErrKept, got, fmt.Sprintf(
					"Compress: call 1 and call %d with the same history", round+1)))
			} else {
				random++
			}
			first[i] = got // once is enough
		}
	}
	switch {
	case found.err() != nil:
		return "", found.err()
	case done == 0:
		return "", unseen("it compresses nothing", len(all))
	case random > 0:
		return "", nothing("two processes compress the same history differently, so nothing follows from other answers")
	}
	return fmt.Sprintf("%d histories, 3 times each", len(all)), nil
}

// said is an answer that is compared with another one. What the strategy itself answers with an error is an answer.
func said(c compressed, err error) (conform.Compressed, error) {
	if err != nil && answeredBadly(err) {
		return conform.Compressed{Said: "error: " + sentence(err), Failed: true}, nil
	}
	return c.said(), err
}
