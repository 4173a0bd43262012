// Package table prints the tables of the command line so that they fit the terminal they are shown in.
//
// A table is made by [New] of its columns, from left to right, and filled by [Table.Row]; [Table.Write] prints it. A
// column says how much it matters ([Column.Rank]) and whether its cells may be shortened ([Column.Min]). What does
// not fit is first shortened, and then left out, the least important column first. The user can choose columns by
// name with --columns (see [Check]); programs read -o json, which has everything.
//
//   - table.go has the table and prints it, fit.go decides which columns are shown and how wide, width.go asks the
//     terminal.
//   - number.go formats numbers, shares, money and durations, so that all tables show them alike.
package table
