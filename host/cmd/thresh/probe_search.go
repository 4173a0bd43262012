package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/lab/probe"
)

const probeSearchHelp = `Searches for a question of a sheet that 'thresh probe --write --search' wrote, over what had been
removed at its moment, and prints the passages as the tool thresh_recall would. It counts the
searches and their tokens beside the sheet, and refuses the fourth for a question.`

func probeSearchCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "search SHEET QUESTION WORDS…",
		Short:   "Search for a question of a sheet",
		Long:    probeSearchHelp,
		Example: `  thresh probe search probes/2-answers/0b93ffb3 3fa91c02 'testServer port "8431"'`,
		Args:    args(cobra.MinimumNArgs(3)),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := probe.Search(cmd.Context(), a.path(args[0]), args[1], strings.Join(args[2:], " "))
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(a.out, text)
			return err
		},
	}
}
