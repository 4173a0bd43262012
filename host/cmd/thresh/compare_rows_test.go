package main_test

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// What a person sees of the samples with two price lists, and with all columns that a wide pipe has room for.
func TestCompareHasOneRowForEachStrategyAndSaysWhatItsColumnsMean(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	args := append([]string{"compare", "--set", "model.contextLimit=30000", "--prices", "anthropic-sonnet,no-cache"},
		samples(t)...)
	out := p.run(args...).done(t).stdout
	table, below, _ := strings.Cut(out, "\n\n")
	if n := strings.Count(table, "\nhigh-density"); n != 1 {
		t.Errorf("%d rows of high-density in\n%s", n, table)
	}
	if strings.Contains(table, "…") || strings.Contains(table, " - ") {
		t.Errorf("a name is cut, or a strategy has no cost at a price list:\n%s", table)
	}
	for _, want := range []string{"\n$ ", "\nRECALL  ", "\nOWN     ", "one row per strategy"} {
		if !strings.Contains("\n"+below, want) {
			t.Errorf("no %q in\n%s", want, below)
		}
	}
	all := p.run(append(args, "--vary", "compression.density.cadence=every-turn,priced")...).done(t).stdout
	// A row that decides by a price list without a column says nothing.
	if n := strings.Count(all, "\nhigh-density"); n != 2 || strings.Contains(all, "one row per strategy") ||
		strings.Contains(all, "(no-cache)") {
		t.Errorf("%d rows of high-density in\n%s", n, all)
	}
	cmd := p.command(args...)
	cmd.Env = append(cmd.Env, "COLUMNS=160")
	wide, _, _ := strings.Cut(p.finish(cmd).done(t).stdout, "\n\n")
	longest := 0
	for line := range strings.Lines(wide) {
		longest = max(longest, utf8.RuneCountInString(strings.TrimSpace(line)))
	}
	if longest <= 120 || longest > 160 || !strings.Contains(wide, "EDITS") {
		t.Errorf("COLUMNS=160 gives lines of up to %d:\n%s", longest, wide)
	}
}
