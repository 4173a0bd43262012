package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/thresh-dev/thresh/host/internal/table"
)

// addColumns gives a command the flag --columns, which selects columns of its main table. Like [app.addOutput] it wraps
// RunE, so call it after RunE is set. columns are for names and completion only; the command may print a table with
// more columns of the same names, as compare does for each price list.
func (a *app) addColumns(cmd *cobra.Command, columns []table.Column) {
	names := table.Names(columns)
	cmd.Flags().StringSliceVar(&a.columns, "columns", nil,
		"show these `COLUMNS` instead of those that fit: all, or some of "+strings.Join(names, ", "))
	_ = cmd.RegisterFlagCompletionFunc("columns", listOf(
		func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append([]string{table.All}, names...), cobra.ShellCompDirectiveNoFileComp
		}))
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := table.Check(columns, a.columns); err != nil { // a typo must not cost a replay of several minutes
			return usage(cmd, err)
		}
		return run(cmd, args)
	}
}

// printTable prints a command's main table: the columns that --columns chose, or those that fit.
func (a *app) printTable(t *table.Table) error { return t.Write(a.out, a.tableOptions()) }

func (a *app) tableOptions() table.Options {
	return table.Options{Width: a.width(), Columns: a.columns}
}

func (a *app) printSmallTable(t *table.Table) error {
	return t.Write(a.out, table.Options{Width: a.width()})
}

func (a *app) width() int { return table.Width(a.out, a.getenv("COLUMNS")) }

// paragraph prints a text for people in lines that fit, those after the first further in.
func (a *app) paragraph(text string, hang int) {
	fmt.Fprintln(a.out, table.Wrap(text, a.width(), hang))
}
