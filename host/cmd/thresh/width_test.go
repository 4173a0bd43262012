package main_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// A table that is piped fits 80 columns, whatever the sessions are called, and shows what matters most.
func TestTablesFitEightyColumns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	files := samples(t)
	for name, c := range map[string]struct {
		args []string
		head string // the beginning of the first line of a table
		want []string
	}{
		"replay": {append([]string{"plugins", "replay", "--turns"}, files...), "SESSION",
			[]string{"SENT", "UNPRUNED", "SAVED", "TURN", "NOTE"}},
		"compare": {append([]string{"compare", "--sessions"}, files...), "VARIANT",
			[]string{"SAVED", "sonnet $", "WORST", "RECALL"}},
		"compare all": {append([]string{"compare", "--vary", "compression.density.cadence=every-turn,priced"},
			files...), "VARIANT", []string{"RECALL"}},
		"explain": {[]string{"explain", files[0]}, "ENTRY", []string{"WHAT BECAME OF IT", "TOKENS SAVED"}},
		"tokens":  {[]string{"tokens", files[1]}, "TOOL", []string{"FILE", "LARGEST ENTRIES", "REPORTED FOR"}},
		"restore": {[]string{"restore", "--list", files[0]}, "ID", []string{"WHAT IT IS"}},
		"config":  {[]string{"config", "explain"}, "KEY", []string{"VALUE", "FROM", "compression.density.optimizeThreshold"}},
		"prices":  {[]string{"config", "prices"}, "NAME", []string{"INPUT", "OUTPUT", "AS OF"}},
	} {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains([]string{"tokens", "config", "restore"}, c.args[0]) {
				c.args = append(c.args, "--set", "model.contextLimit=30000")
			}
			r := p.run(c.args...).done(t)
			inTable, tables := false, 0
			for line := range strings.Lines(r.stdout) {
				line = strings.TrimSuffix(line, "\n")
				if strings.HasPrefix(strings.TrimLeft(line, " "), c.head) {
					inTable, tables = true, tables+1
				}
				if line == "" { // the prose after a table wraps by itself
					inTable = false
				}
				if width := utf8.RuneCountInString(line); inTable && width > 80 {
					t.Errorf("%d columns: %s", width, line)
				}
			}
			for _, want := range c.want {
				if !strings.Contains(r.stdout, want) {
					t.Errorf("no %q in\n%s", want, r.stdout)
				}
			}
			if tables == 0 {
				t.Errorf("no table in\n%s", r.stdout)
			}
		})
	}
}
