package prepare_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

// thinks is a turn of the model: sealed thinking and words. Without words it is thinking alone.
func thinks(words string) content.Content {
	c := content.Content{Speaker: content.AI, Blocks: []content.Block{content.Thinking{Thought: "hm", Signature: "s"}}}
	if words != "" {
		c.Blocks = append(c.Blocks, content.Text{Text: words})
	}
	return c
}

// drawn is a view as one letter an entry: h for a person, A for the model with its thinking, a without, as a mark is.
func drawn(v history.View) string {
	var b strings.Builder
	for _, e := range v.Entries {
		switch {
		case e.Content.Speaker == content.Human:
			b.WriteByte('h')
		case history.Sealed(e.Content):
			b.WriteByte('A')
		default:
			b.WriteByte('a')
		}
	}
	return b.String()
}

// removing removes an entry in an Optimize of so many entries, and does nothing else.
func removing(entry, of int) func(prepare.OptimizeCall) ([]rewrite.Edit, error) {
	return func(call prepare.OptimizeCall) ([]rewrite.Edit, error) {
		if len(call.Entries) != of {
			return nil, nil
		}
		return []rewrite.Edit{{Index: entry, Remove: true}}, nil
	}
}

// For a model that seals its thinking, what stands behind the first change of what was sent goes, for good, whoever made
// the change and however the turn ended.
func TestThinkingBehindAChangeGoes(t *testing.T) {
	failing := errors.New("no")
	for name, tt := range map[string]struct {
		unsealed bool // the model does not seal
		optimize func(prepare.OptimizeCall) ([]rewrite.Edit, error)
		before   func(t *testing.T, f *fixture) // the second turn
		fails    bool
		want     string // of the second turn, and then with a turn of the model behind it
	}{
		"nothing changes":              {want: "hAhAhA"},
		"a pruned entry":               {optimize: removing(1, 6), want: "hahaha"},
		"the model does not seal":      {unsealed: true, optimize: removing(1, 6), want: "hahAhA"},
		"what is behind all thinking":  {optimize: removing(5, 6), want: "hAhAha"},
		"a Compress by hand":           {before: byHand, want: "hahaha"},
		"the turn fails after pruning": {optimize: removing(1, 6), before: overThreshold(failing), fails: true, want: "hahaha"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(0, &scripted{mode: sdk.ModeContinuous, optimize: tt.optimize})
			f.req.Settings.ContextLimit, f.req.Settings.Seals = 1000, !tt.unsealed
			for range 2 {
				add(f.history, append(says(content.Human, 1), thinks("yes")))
			}
			if v, _, err := f.Prepare(t.Context(), f.req); err != nil || drawn(v) != "hAhA" {
				t.Fatal(drawn(v), err)
			}
			add(f.history, append(says(content.Human, 1), thinks("yes")))
			if tt.before != nil {
				tt.before(t, f)
			}
			v, out, err := f.Prepare(t.Context(), f.req)
			if got := drawn(v); got != tt.want || (err != nil) != tt.fails || v.Tokens != out.Tokens {
				t.Fatalf("%s, want %s; %d tokens, the outcome has %d; %v", got, tt.want, v.Tokens, out.Tokens, err)
			}
			f.req.Settings.Threshold = nil
			add(f.history, append(says(content.Human, 1), thinks("yes")))
			if v, _, err := f.Prepare(t.Context(), f.req); err != nil || drawn(v) != tt.want+"hA" {
				t.Errorf("then %s, want %s: %v", drawn(v), tt.want+"hA", err)
			}
		})
	}
}

func byHand(t *testing.T, f *fixture) {
	f.strategy.compress = func(call prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error) {
		return []rewrite.Piece{rewrite.Keep{To: 1}, rewrite.Keep{From: 2, To: len(call.Entries)}}, "", nil
	}
	if _, err := f.Compress(t.Context(), f.req); err != nil {
		t.Fatal(err)
	}
}

func overThreshold(err error) func(t *testing.T, f *fixture) {
	return func(_ *testing.T, f *fixture) {
		f.req.Settings.Threshold = new(0.01)
		f.strategy.compress = func(prepare.CompressCall) ([]rewrite.Piece, sdk.NoOpReason, error) { return nil, "", err }
	}
}

// Nothing was sent through this session yet: the thinking was made behind what was added.
func TestThinkingBehindTheFirstChangeGoes(t *testing.T) {
	f := newFixture(0, &scripted{mode: sdk.ModeContinuous, optimize: removing(3, 6)})
	f.req.Settings.ContextLimit, f.req.Thinking = 1000, prepare.ThinkingSealed // as a refusal showed
	for range 2 {
		add(f.history, append(says(content.Human, 1), thinks("yes")))
	}
	add(f.history, []content.Content{says(content.Human, 1)[0], thinks("")}) // thinking alone goes with its entry
	v, out, err := f.Prepare(t.Context(), f.req)
	if err != nil || drawn(v) != "hAhah" {
		t.Error(drawn(v), err)
	}
	var steps []string
	for _, c := range out.Changes {
		steps = append(steps, c.Step+" "+string(c.Kind))
	}
	if got := strings.Join(steps, ", "); got != "optimize added, optimize removed, thinking removed" {
		t.Error(got)
	}
}

// A model that wants back the thinking behind its last calls gets all as it was sent, or the turn fails.
func TestNothingChangesBeforeThinkingThatMustComeBack(t *testing.T) {
	f := newFixture(4, &scripted{mode: sdk.ModeContinuous, optimize: removing(1, 4), compress: keepLast(2)})
	f.req.Settings.Ladder, f.req.Thinking = true, prepare.ThinkingHeld
	f.req.Settings.Threshold = new(0.2)
	v, out, err := f.Prepare(t.Context(), f.req)
	if err != nil || drawn(v) != "hhhh" || out.Optimize.Skipped != outcome.SkippedHeld || len(f.strategy.compresses) > 0 {
		t.Errorf("%s, %+v, %v", drawn(v), out.Optimize, err)
	}
	add(f.history, says(content.Human, 10))
	over := (*prepare.ContextOverflowError)(nil)
	if v, _, err = f.Prepare(t.Context(), f.req); !errors.As(err, &over) || !over.Held || len(v.Entries) != 14 {
		t.Errorf("%s, %v", drawn(v), err)
	}
	f.req.Thinking = prepare.ThinkingSealed
	if v, _, err = f.Prepare(t.Context(), f.req); err != nil || len(v.Entries) >= 14 {
		t.Errorf("%s, %v", drawn(v), err)
	}
}
