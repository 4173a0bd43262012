package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/internal/check"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk"
)

// Optimized returns the history after an Optimize, as the host keeps it: the metadata of edited entries says which
// lines are marks. The error is what the SDK or the host would refuse.
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

// JudgeOptimize judges an Optimize by itself. sent is what the strategy was given of the history, and could have
// changed.
func JudgeOptimize(history, sent []sdk.Content, r sdk.DensityResult) (after []sdk.Content, _ error) {
	after, err := Optimized(history, r)
	if err != nil {
		return nil, err
	}
	var found Findings
	if i := Changed(sent, history); i >= 0 {
		found.Judged("", &check.Error{Index: i, Err: ErrInputChanged, Detail: "in Optimize"})
	}
	// Reported although the host goes on without them.
	found.Add("", reasons(history, r))
	return after, found.Err()
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

// reasons finds reasons that would be dropped. The host refuses nothing for them; their author will want to know.
func reasons(history []sdk.Content, r sdk.DensityResult) error {
	var found Findings
	for _, i := range slices.Sorted(maps.Keys(r.Reasons)) {
		reason := r.Reasons[i]
		_, replaced := r.Replacements[i]
		_, removed := slices.BinarySearch(r.Removals, i)
		switch clean := reason.Clean(len(history)); {
		case !replaced && !removed:
			found.Add("", fmt.Errorf("Reasons names entry %d, which is neither removed nor replaced", i))
		case clean.Rule != reason.Rule:
			found.Add("", fmt.Errorf("the rule %q in the reason of entry %d would be dropped; "+
				"use at most %d characters of a to z, 0 to 9 and hyphens", reason.Rule, i, sdk.MaxRule))
		case clean.SupersededBy != reason.SupersededBy:
			found.Add("", fmt.Errorf("the reason of entry %d says that entry %d superseded it, but the history has %d entries, "+
				"counted from 0", i, *reason.SupersededBy, len(history)))
		}
	}
	return found.Err()
}

// DifferentEdits is differentEdits as an error.
func DifferentEdits(rule *check.Rule, a, b sdk.DensityResult, detail string) error {
	if e := differentEdits(rule, a, b, detail); e != nil {
		return e
	}
	return nil
}

// differentEdits says where two results of Optimize differ that should not, of a and then of b: nil if nowhere.
func differentEdits(rule *check.Rule, a, b sdk.DensityResult, detail string) *check.Error {
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

// reply is what a call came to, to be compared. An error that the strategy returns is a reply too: that of an Optimize
// must be as reproducible as any other.
type reply struct {
	edits  sdk.DensityResult // of an Optimize that did not fail
	key    string            // of any other: two of them are the same if and only if these are equal
	said   string            // for people
	failed bool
}

// replied returns the reply of a call with a history that returned err. The error says that asking on makes no sense.
func replied(ctx context.Context, history string, r reply, err error) (reply, error) {
	switch {
	case ctx.Err() != nil:
		return reply{}, ctx.Err()
	case lost(err):
		return reply{}, fmt.Errorf("history %q: %w", history, err)
	case err != nil:
		said := "error: " + line(err)
		return reply{key: said, said: said, failed: true}, nil
	}
	return r, nil
}

func pruned(r sdk.DensityResult) reply {
	return reply{edits: r, said: fmt.Sprintf("%d edits", edits(r))}
}

func squeezed(r sdk.CompressResult) reply {
	if r.NoOp != "" {
		return reply{key: noOp + string(r.NoOp), said: noOp + string(r.NoOp)}
	}
	var b strings.Builder
	for _, e := range named(r.History) {
		b.WriteString(e.ID)
		b.Write(e.Content.AppendJSON(nil))
	}
	counts, _ := json.Marshal(r.Metadata) // numbers and names
	b.Write(counts)
	return reply{key: b.String(), said: fmt.Sprintf("%d entries, %d bytes", len(r.History), b.Len())}
}

const noOp = "no-op: "

// different says where two replies differ that should not, r and then another one: nil if they do not.
func (r reply) different(rule *check.Rule, then reply, detail string) *check.Error {
	switch {
	case r.key == "" && then.key == "":
		return differentEdits(rule, r.edits, then.edits, detail)
	case r.key == then.key:
		return nil
	}
	return &check.Error{Index: -1, Err: rule, Detail: detail, Was: text.OneLine(r.said, 200),
		Came: text.OneLine(then.said, 200)}
}
