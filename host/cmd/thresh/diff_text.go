package main

import (
	"fmt"
	"strconv"

	"github.com/thresh-dev/thresh/host/cmd/thresh/internal/table"
	"github.com/thresh-dev/thresh/host/internal/lab/explain"
	"github.com/thresh-dev/thresh/host/internal/transcript"
)

// signs are how a diff marks entries and blocks.
var signs = map[explain.Op]string{
	explain.OpSame: " ", explain.OpRemoved: "-", explain.OpAdded: "+", explain.OpChanged: "~",
}

func (a *app) printDiff(d explain.Difference, files []string, sides [2]*transcript.Transcript, all bool) error {
	for i, tokens := range []int{d.TokensA, d.TokensB} {
		fmt.Fprintf(a.out, "%s: %s (%s), %d entries, %s tokens\n", []string{"A", "B"}[i], displayName(files[i]),
			sides[i].Format, len(sides[i].Entries), table.Int(tokens))
	}
	fmt.Fprintln(a.out)
	if all || !d.Equal {
		if err := a.printSmallTable(diffTable(d, all)); err != nil {
			return err
		}
	}
	verdict := "equal"
	if !d.Equal {
		verdict = fmt.Sprintf("%d removed, %d added, %d changed", d.Removed, d.Added, d.Changed)
	}
	_, err := fmt.Fprintf(
		a.out, "%s, %d the same; %s → %s tokens\n", verdict, d.Same, table.Int(d.TokensA), table.Int(d.TokensB),
	)
	return err
}

func diffTable(d explain.Difference, all bool) *table.Table {
	t := table.New(
		table.Column{
			Name: "sign", Head: " ",
		},
		table.Column{Name: "a"},
		table.Column{Name: "b"},
		table.Column{Name: "speaker"},
		table.Column{Name: "tokens", Right: true},
		table.Column{Name: "what", Head: "WHAT IT IS", Min: 24},
	)
	same := 0 // entries that were not shown since the last one that was
	for _, item := range append(d.Items, explain.DiffItem{}) {
		if item.Op == explain.OpSame && !all {
			same++
			continue
		}
		if same > 0 {
			t.Row("", "", "", "", "", fmt.Sprintf("(%d the same)", same))
			same = 0
		}
		if item.Op == "" {
			break // the end
		}
		t.Row(signs[item.Op], position(item.A), position(item.B), string(item.Speaker), tokensOf(item), item.What)
		for _, b := range item.Blocks {
			if b.A != nil {
				t.Row("", "", "", "", "", fmt.Sprintf("- block %d: %s", *b.A, b.WhatA))
			}
			if b.B != nil {
				t.Row("", "", "", "", "", fmt.Sprintf("+ block %d: %s", *b.B, b.WhatB))
			}
		}
	}
	return t
}

func position(at *int) string {
	if at == nil {
		return ""
	}
	return strconv.Itoa(*at)
}

func tokensOf(item explain.DiffItem) string {
	switch {
	case item.A == nil:
		return table.Int(item.TokensB)
	case item.B == nil || item.TokensA == item.TokensB:
		return table.Int(item.TokensA)
	default:
		return table.Int(item.TokensA) + " → " + table.Int(item.TokensB)
	}
}
