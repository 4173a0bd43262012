package main_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

type explained struct {
	File, Format, Strategy string
	Turns, Tokens, Now     int
	Entries                []struct {
		Index, Line, Tokens, Now int
		Speaker, What, Fate      string
		Events                   []struct {
			Turn             int
			Kind, Step, Rule string
			By               *int
			Before, After    int
		}
		Problems []struct{ Kind, CallID string }
	}
	Made  []object
	Rules []struct {
		Step, Rule              string
		Removed, Trimmed, Saved int
	}
}

// On the samples every entry is accounted for once, and the tokens add up, with all that happens to a long session.
func TestExplainAccountsForEveryEntryOfTheSamples(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	fates := map[string]bool{}
	kept := decode[struct{ Sessions []struct{ Entries int } }](t,
		p.run(append([]string{"compare", "--strategy", "top-down-truncation", "-o", "json"}, repo.Samples(t)...)...))
	for i, file := range repo.Samples(t) {
		got := decode[explained](t, p.run("explain", "-o", "json", "--strategy", "high-density", "--set",
			"model.contextLimit=30000", file))
		tokens, now := 0, 0
		for i, e := range got.Entries {
			if e.Index != i || (e.Fate == "stands") != (len(e.Events) == 0) {
				t.Errorf("%s, entry %d: %+v", file, i, e)
			}
			at := e.Tokens
			for _, event := range e.Events {
				if event.Before != at {
					t.Errorf("%s, entry %d: %s from %d tokens, it had %d", file, i, event.Kind, event.Before, at)
				}
				at = event.After
				fates[event.Step+" "+event.Rule] = true
			}
			if at != e.Now {
				t.Errorf("%s, entry %d: %d tokens are left, its events leave %d", file, i, e.Now, at)
			}
			tokens, now = tokens+e.Tokens, now+e.Now
		}
		saved := 0
		for _, rule := range got.Rules {
			saved += rule.Saved
		}
		if tokens != got.Tokens || now != got.Now || tokens-saved != now || len(got.Made) != 0 {
			t.Errorf("%s: %d tokens, %d saved, %d left, %d made", file, tokens, saved, now, len(got.Made))
		}
		if len(got.Entries) != kept.Sessions[i].Entries {
			t.Errorf("%s: %d entries of %d", file, len(got.Entries), kept.Sessions[i].Entries)
		}
	}
	for _, want := range []string{"optimize stale-read", "optimize duplicate-inclusion", "compress ",
		"recorder compacted"} {
		if !fates[want] {
			t.Errorf("no entry met %q; those were met: %v", want, fates)
		}
	}
}
