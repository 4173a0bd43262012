package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/lab/explain"
	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

func diffCommand(a *app) *cobra.Command {
	var all, exitCode bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Show what two histories do not have in common",
		Long: `Compares two histories entry by entry: what is only in A (-), only in B (+), or in both but with other blocks (~), with the tokens
and the blocks that differ. Entries with the same speaker and blocks are the same; metadata, which no model sees, does not count.

The exit status is 0 whether they differ or not; with --exit-code it is 1 if they do. A failure is 1 too, and says why.

A and B are sessions in any format that 'thresh convert' reads; '-' is standard input.`,
		Example: `  thresh optimize --apply session.json | thresh diff session.json -
  thresh diff -o json before.jsonl after.json | jq '.items[] | select(.op == "changed")'`,
		Args: func(cmd *cobra.Command, given []string) error {
			switch {
			case len(given) != 2:
				return usage(cmd, fmt.Errorf("needs two files, A and B ('-' is standard input), got %d", len(given)))
			case given[0] == "-" && given[1] == "-":
				return usage(cmd, errors.New("only one of the files can be standard input"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error {
			d, sides, err := a.diff(cmd, files)
			if err != nil {
				return err
			}
			if a.output == "json" {
				if !all {
					d.Items = differing(d.Items)
				}
				err = a.printJSON(struct {
					A string `json:"fileA"`
					B string `json:"fileB"`
					explain.Difference
				}{files[0], files[1], d})
			} else {
				err = a.printDiff(d, files, sides, all)
			}
			if err == nil && exitCode && !d.Equal {
				err = errReported
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "show entries that are the same too")
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 1 if the histories differ")
	a.addOutput(cmd)
	return cmd
}

// diff compares two files and returns them with it.
func (a *app) diff(cmd *cobra.Command, files []string) (d explain.Difference, sides [2]*transcript.Transcript, err error) {
	counter, taxonomy, err := a.reading(cmd)
	if err != nil {
		return d, sides, err
	}
	var histories [2]explain.History
	for i, file := range files {
		t, err := a.read(cmd.Context(), file)
		if err != nil {
			return d, sides, err
		}
		a.warnings(file, t.Notes)
		counts, err := counter.CountAll(cmd.Context(), t.Entries, nil)
		if err != nil {
			return d, sides, fmt.Errorf("%s: %w", displayPath(file), err)
		}
		sides[i] = t
		histories[i] = explain.History{Entries: t.Entries, Tokens: func(entry int) int { return counts[entry] }}
	}
	return explain.Diff(histories[0], histories[1], taxonomy), sides, nil
}

// differing returns the items that are not the same in both.
func differing(items []explain.DiffItem) []explain.DiffItem {
	out := []explain.DiffItem{}
	for _, item := range items {
		if item.Op != explain.OpSame {
			out = append(out, item)
		}
	}
	return out
}

// signs are how a diff marks entries and blocks.
var signs = map[explain.Op]string{explain.OpSame: " ", explain.OpRemoved: "-", explain.OpAdded: "+", explain.OpChanged: "~"}

func (a *app) printDiff(d explain.Difference, files []string, sides [2]*transcript.Transcript, all bool) error {
	for i, sign := range []string{"A", "B"} {
		fmt.Fprintf(a.out, "%s: %s (%s), %d entries, %d tokens\n", sign, displayName(files[i]), sides[i].Format, len(sides[i].Entries), []int{d.TokensA, d.TokensB}[i])
	}
	fmt.Fprintln(a.out)
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	if all || !d.Equal {
		fmt.Fprintln(w, " \tA\tB\tSPEAKER\tTOKENS\tWHAT IT IS")
	}
	same := 0 // since the last entry that was shown
	for _, item := range d.Items {
		if item.Op == explain.OpSame && !all {
			same++
			continue
		}
		printSame(w, &same)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", signs[item.Op], position(item.A), position(item.B), item.Speaker, tokensOf(item), shown(item.What))
		for _, b := range item.Blocks {
			printBlock(w, b)
		}
	}
	if !d.Equal {
		printSame(w, &same)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	verdict := "equal"
	if !d.Equal {
		verdict = fmt.Sprintf("%d removed, %d added, %d changed", d.Removed, d.Added, d.Changed)
	}
	_, err := fmt.Fprintf(a.out, "%s, %d the same; %d → %d tokens\n", verdict, d.Same, d.TokensA, d.TokensB)
	return err
}

// printSame says how many entries were not shown.
func printSame(w io.Writer, same *int) {
	if *same > 0 {
		fmt.Fprintf(w, "\t\t\t\t\t(%d the same)\n", *same)
	}
	*same = 0
}

func printBlock(w io.Writer, b explain.DiffBlock) {
	if b.Op != explain.OpAdded {
		fmt.Fprintf(w, "\t\t\t\t\t  - block %d: %s\n", *b.A, b.WhatA)
	}
	if b.Op != explain.OpRemoved {
		fmt.Fprintf(w, "\t\t\t\t\t  + block %d: %s\n", *b.B, b.WhatB)
	}
}

func position(at *int) string {
	if at == nil {
		return ""
	}
	return strconv.Itoa(*at)
}

func tokensOf(item explain.DiffItem) string {
	switch item.Op {
	case explain.OpRemoved:
		return strconv.Itoa(item.TokensA)
	case explain.OpAdded:
		return strconv.Itoa(item.TokensB)
	case explain.OpSame:
		return strconv.Itoa(item.TokensA)
	default:
		return fmt.Sprintf("%d → %d", item.TokensA, item.TokensB)
	}
}
