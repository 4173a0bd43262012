package conform_test

import (
	"slices"
	"testing"

	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/internal/testkit/mutants"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk"
)

func runner(s sdk.Strategy) *conform.Runner {
	limits := conform.DefaultLimits()
	limits.Large, limits.Long, limits.Slow, limits.Many = 1<<20, 1000, 0, 70_000
	return &conform.Runner{Subject: conform.Value(s), Around: conform.Standard, Limits: limits, More: "show one"}
}

// Each mutant is found by its check, and by its rule. The one without a fault passes all checks, and none of them has
// nothing to judge.
func TestEachMutantIsFound(t *testing.T) {
	race.Skip(t)
	for _, m := range append(mutants.All(), mutants.Mutant{Name: mutants.Honest}) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			s, ok := mutants.New(m.Name)
			if !ok {
				t.Fatal("there is no such mutant")
			}
			r := runner(s)
			ran := m.Check == "stdout" // of a process, or of a test: verify and sdktest look for it
			for _, c := range conform.Checks() {
				if m.Check != "" && c.Name != m.Check {
					continue
				}
				ran = true
				got, _ := c.Judge(t.Context(), r)
				named := func(f conform.Finding) bool { return f.Rule == m.Rule.Code }
				switch {
				case len(got.Findings) > conform.MaxFindings:
					t.Errorf("%d findings", len(got.Findings))
				case m.Rule == nil && (got.Outcome == conform.Fail || got.Outcome == conform.Nothing),
					m.Rule != nil && (got.Outcome != conform.Fail || !slices.ContainsFunc(got.Findings, named)):
					t.Errorf("%s: %s: %s %v", c.Name, got.Outcome, got.Detail, got.Findings)
				}
			}
			if !ran {
				t.Errorf("there is no check %q", m.Check)
			}
		})
	}
}
