package probe_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
)

// set is a variant with another context limit.
func set(limit string) []compare.Variant {
	return []compare.Variant{{Name: "set", Strategy: "top-down-truncation",
		Settings: map[string]string{"model.contextLimit": limit}}}
}

// A variant that had nothing to remove leaves no moment to ask about; one that is added later may.
func TestAFurtherVariantMayBringTheFirstMoments(t *testing.T) {
	t.Parallel()
	at, h := t.TempDir(), host(t)
	o := options()
	o.Variants = set("1000000")
	b, _ := plan(t, h, at, o)
	if n := check(t, b).Moments(); n != 0 {
		t.Fatalf("%d moments", n)
	}
	b, _ = plan(t, h, at, options("top-down-truncation"))
	if check(t, b).Moments() == 0 {
		t.Error("there are still no moments")
	}
}

// Where no replay went through there are no moments, and the report says why.
func TestAFailedReplayIsReportedWithoutMoments(t *testing.T) {
	t.Parallel()
	o := options()
	o.Variants = set("many")
	b, _ := plan(t, host(t), t.TempDir(), o)
	failed := check(t, b).Report().Failed
	if len(failed) != len(o.Sessions) || !slices.ContainsFunc(failed, func(s string) bool {
		return strings.Contains(s, "a: set: ")
	}) {
		t.Errorf("failed: %q", failed)
	}
}

// A variant that was never replayed on a session leaves its questions open: the report says so, as no sheet is missing.
func TestAVariantThatASessionLacksIsNamed(t *testing.T) {
	t.Parallel()
	at, h := t.TempDir(), host(t)
	plan(t, h, at, options("top-down-truncation"))
	more := options("high-density")
	more.Sessions = more.Sessions[:1]
	b, _ := plan(t, h, at, more)
	st, _ := workThrough(t, b, at)
	r := st.Report()
	if len(r.Failed) != 1 || !strings.Contains(r.Failed[0], "b: high-density: ") || r.Open == 0 {
		t.Errorf("%d questions are open, and failed are %q", r.Open, r.Failed)
	}
}
