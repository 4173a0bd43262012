package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/cmd/thresh/internal/table"
)

// addColumns gives a command the flag --columns, which chooses columns of its main table.
func (a *app) addColumns(cmd *cobra.Command, columns []table.Column) {
	names := table.Names(columns)
	cmd.Flags().StringSliceVar(&a.columns, "columns", nil,
		"show these `COLUMNS` instead of those that fit: all, or some of "+strings.Join(names, ","))
	_ = cmd.RegisterFlagCompletionFunc("columns", listOf(
		func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append([]string{table.All}, names...), cobra.ShellCompDirectiveNoFileComp
		}))
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := table.Check(columns, a.columns); err != nil { // before any work is done
			return usage(cmd, err)
		}
		return run(cmd, args)
	}
}

// printTable prints a command's main table, with the columns that --columns chose.
func (a *app) printTable(t *table.Table) error {
	return t.Write(a.out, table.Options{Width: table.Width(a.out), Columns: a.columns})
}

// printSmallTable prints a further table of a command, to which --columns does not apply.
func (a *app) printSmallTable(t *table.Table) error {
	return t.Write(a.out, table.Options{Width: table.Width(a.out)})
}
