// Package table prints the tables of the command line to fit the terminal.
//
// [New] makes a table from its columns, [Table.Row] fills it, and [Table.Write] prints it. A column says how much it
// matters ([Column.Rank]) and whether its cells may be shortened ([Column.Min]). What does not fit is first shortened,
// and then left out, the least important column first. The user can choose columns by name with --columns (see
// [Check]); programs read -o json, which has everything. number.go formats numbers for all tables.
package table
