// Package importrules holds the direction of imports: its test fails when a package imports what its room may not know.
//
// The rules are the table in rules_test.go, each with the reason that the failing test prints. ARCHITECTURE.md draws
// the same layers.
package importrules
