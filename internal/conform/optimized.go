package conform

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// Optimized returns the history after an Optimize, as the host keeps it: the metadata of edited entries says which lines
// are marks. The error is what the SDK or the host would refuse.
func Optimized(history []sdk.Content, r sdk.DensityResult) ([]sdk.Content, error) {
	// What the SDK refuses before anything travels; the host's own rules come after it.
	edits, err := rewrite.Edits(history, r.Removals, r.Replacements, nil)
	if err != nil {
		return nil, err
	}
	parts, err := check.Optimize(history, edits)
	if err != nil {
		return nil, err
	}
	return recorded(Apply(history, r), parts, ""), nil
}

// Apply returns the history after the edits of a result, which must be one that [Optimized] accepts. Its entries say
// where they stood.
func Apply(history []sdk.Content, r sdk.DensityResult) []sdk.Content {
	removed := make(map[int]bool, len(r.Removals))
	for _, i := range r.Removals {
		removed[i] = true
	}
	out := make([]sdk.Content, 0, len(history))
	for i, e := range history {
		if removed[i] {
			continue
		}
		if replacement, ok := r.Replacements[i]; ok {
			e = replacement
		}
		out = append(out, e.WithOrigin(i))
	}
	return out
}

// recorded returns a new history with the metadata that the host gives it. maker is the strategy whose new entries are
// marked as made, "" for none.
func recorded(after []sdk.Content, parts []check.Part, maker string) []sdk.Content {
	after = slices.Clone(after)
	for i, p := range parts {
		switch {
		case p.Edited:
			after[i].Metadata = p.Content.Metadata
		case p.Index < 0 && maker != "":
			after[i] = check.MarkMade(after[i], maker)
		}
	}
	return after
}

// Reasons finds reasons that would be dropped. The host refuses nothing for them; their author will want to know.
func Reasons(history []sdk.Content, r sdk.DensityResult) (found Problems) {
	for _, i := range slices.Sorted(maps.Keys(r.Reasons)) {
		reason := r.Reasons[i]
		_, replaced := r.Replacements[i]
		_, removed := slices.BinarySearch(r.Removals, i)
		switch clean := reason.Clean(len(history)); {
		case !replaced && !removed:
			found.Add(fmt.Errorf("Reasons names entry %d, which is neither removed nor replaced", i))
		case clean.Rule != reason.Rule:
			found.Add(fmt.Errorf("the rule %q in the reason of entry %d would be dropped; "+
				"use at most %d characters of a to z, 0 to 9 and hyphens", reason.Rule, i, sdk.MaxRule))
		case clean.SupersededBy != reason.SupersededBy:
			found.Add(fmt.Errorf("the reason of entry %d says that entry %d superseded it, but the history has %d entries, "+
				"counted from 0", i, *reason.SupersededBy, len(history)))
		}
	}
	return found
}

// DifferentEdits says where two results of Optimize differ that should not, of a and then of b: nil if nowhere.
func DifferentEdits(rule *check.Rule, a, b sdk.DensityResult, detail string) *check.Error {
	does := func(r sdk.DensityResult, i int) string {
		_, removed := slices.BinarySearch(r.Removals, i)
		if now, replaced := r.Replacements[i]; replaced {
			return text.OneLine("it becomes "+string(now.AppendJSON(nil)), 200)
		} else if removed {
			return "it is removed"
		}
		return "it stays"
	}
	var touched []int
	for _, r := range []sdk.DensityResult{a, b} {
		touched = append(append(touched, r.Removals...), slices.Collect(maps.Keys(r.Replacements))...)
	}
	slices.Sort(touched)
	for _, i := range slices.Compact(touched) {
		x, inA := a.Replacements[i]
		y, inB := b.Replacements[i]
		_, goesInA := slices.BinarySearch(a.Removals, i)
		_, goesInB := slices.BinarySearch(b.Removals, i)
		if inA != inB || goesInA != goesInB || inA && !x.Equal(y) || !reflect.DeepEqual(a.Reasons[i], b.Reasons[i]) {
			return &check.Error{Index: i, Err: rule, Detail: detail, Was: does(a, i), Came: does(b, i)}
		}
	}
	if edits(a)+edits(b) > 0 && !reflect.DeepEqual(a.Metadata, b.Metadata) {
		return &check.Error{Index: -1, Err: rule, Detail: detail, Was: fmt.Sprintf("%+v", a.Metadata),
			Came: fmt.Sprintf("%+v", b.Metadata)}
	}
	return nil
}

func edits(r sdk.DensityResult) int { return len(r.Removals) + len(r.Replacements) }

// pruning is what an Optimize came to, to be compared. An error that the strategy returns is an answer too: it must be as
// reproducible as any other.
type pruning struct {
	sdk.DensityResult
	failed string
}

func (p pruning) different(rule *check.Rule, then pruning, detail string) *check.Error {
	if p.failed == "" && then.failed == "" {
		return DifferentEdits(rule, p.DensityResult, then.DensityResult, detail)
	} else if p.failed == then.failed {
		return nil
	}
	said := func(p pruning) string {
		if p.failed != "" {
			return text.OneLine("error: "+p.failed, 200)
		}
		return fmt.Sprintf("%d edits", edits(p.DensityResult))
	}
	return &check.Error{Index: -1, Err: rule, Detail: detail, Was: said(p), Came: said(then)}
}
