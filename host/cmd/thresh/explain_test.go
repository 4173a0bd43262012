package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestExplainSaysWhatBecameOfEachEntry(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.json", pruning)
	got := decode[explained](t, p.run("explain", "-o", "json", "--strategy", "high-density", "--set", "workspace.root=/w",
		"s.json"))
	var became []string
	for _, e := range got.Entries {
		line := fmt.Sprintf("%d on line %d, %s: %s", e.Index, e.Line, e.What, e.Fate)
		for _, event := range e.Events {
			line += fmt.Sprintf(", turn %d %s %s by %d", event.Turn, event.Step, event.Rule, *event.By)
		}
		became = append(became, line)
	}
	want := []string{
		`0 on line 2, "look: --- a.ts --- one --- End of content --- thanks": trimmed, turn 3 optimize ` +
			`duplicate-inclusion by 5`,
		`1 on line 3, read_file b.ts: trimmed, turn 3 optimize stale-read by 3`,
		`2 on line 4, read_file b.ts → "content of b.ts": removed, turn 3 optimize stale-read by 3`,
		`3 on line 5, write_file /w/b.ts: stands`,
		`4 on line 6, write_file /w/b.ts → "ok": stands`,
		`5 on line 7, "--- a.ts --- two --- End of content ---": stands`,
	}
	if diff := cmp.Diff(want, became); diff != "" {
		t.Error(diff)
	}
	if got.Strategy != "high-density" || got.Turns != 3 || got.Format != "native" {
		t.Errorf("%s, %s, %d turns", got.Format, got.Strategy, got.Turns)
	}

	r := p.run("explain", "--strategy", "high-density", "--only", "removed", "--set", "workspace.root=/w",
		"s.json").done(t)
	for _, want := range []string{"removed at turn 3 (stale-read, by 3)", "STEP      RULE"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	if strings.Contains(r.stdout, "stands") || strings.Contains(r.stdout, "trimmed at") {
		t.Errorf("more than what was removed:\n%s", r.stdout)
	}
	early := decode[explained](t, p.run("explain", "-o", "json", "--strategy", "high-density", "--turn", "2", "--set",
		"workspace.root=/w", "s.json"))
	if early.Turns != 2 || len(early.Entries) != 3 || early.Now != early.Tokens {
		t.Errorf("turn 2: %d entries, %d of %d tokens", len(early.Entries), early.Now, early.Tokens)
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

// What the agent itself compacted is said to be so, and no strategy is credited with it.
func TestExplainSaysWhatTheAgentCompacted(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	out := p.run("explain", repo.Samples(t)[0]).done(t).stdout
	for _, want := range []string{" were compacted by the agent itself\n", "compacted by the agent itself at turn "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%.600s", want, out)
		}
	}
	if strings.Contains(out, "recorder") {
		t.Errorf("the recorder is among the rules:\n%s", out)
	}
}

func TestExplainNamesWhatIsWithheld(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file(
		"s.jsonl",
		turns(
			2,
		)+`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"lost","toolName":"x","result":"y"}]}`+"\n",
	)
	r := p.run("explain", "s.jsonl").done(t)
	if !strings.Contains(r.stdout, "withheld from turn 3 (orphaned-response)") {
		t.Errorf("got\n%s", r.stdout)
	}
}

func TestExplainRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("s.json", pruning)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"explain"}, 1, "found no sessions of claude-code"},
		{[]string{"explain", "--only", "gone", "s.json"}, 2, `not "gone"`},
		{[]string{"explain", "--turn", "0", "s.json"}, 2, "counts from 1"},
		{[]string{"explain", "-o", "yaml", "s.json"}, 2, `not "yaml"`},
		{[]string{"explain", "--turn", "4", "s.json"}, 1, "turn 4: the session has no such turn, it has 3"},
		{[]string{"explain", "--strategy", "none-such", "s.json"}, 1, "none-such"},
	} {
		p.run(c.args...).failed(t, c.code, c.want)
	}
}
