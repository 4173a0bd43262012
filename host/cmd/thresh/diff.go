package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/lab/explain"
	"github.com/thresh-dev/thresh/host/internal/transcript"
)

func diffCommand(a *app) *cobra.Command {
	var all, exitCode bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Show the differences between two histories",
		Long: `Compares two histories entry by entry: what is only in A (-), only in B (+), or in both with other blocks (~), with
the tokens and the blocks that differ. Entries with the same speaker and blocks are the same. Metadata is not
compared, as no model sees it.

The exit status is 0 whether they differ or not; with --exit-code it is 1 if they do. It is also 1 after an error, which
is printed.

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
func (a *app) diff(
	cmd *cobra.Command,
	files []string,
) (d explain.Difference, sides [2]*transcript.Transcript, err error) {
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
