// Package importrules is a test that fails when a package imports what its room may not know. The rules and their
// reasons are the table in rules_test.go; ARCHITECTURE.md draws the same layers.
package importrules
