package main_test

import (
	"slices"
	"testing"
)

// A table that is piped fits 80 columns, whatever the sessions are called, and shows what matters most.
func TestTablesFitEightyColumns(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	files := samples(t)
	for name, c := range map[string]struct {
		args []string
		head string // the beginning of the first line of a table
		want []string
	}{
		"compare": {[]string{"compare", "--turns", "--strategy", "distill", files[0]}, "TURN",
			[]string{"SENT", "UNPRUNED", "SAVED", "TURN", "NOTE"}},
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
			fitsEighty(t, r.stdout, c.head, c.want...)
		})
	}
}
