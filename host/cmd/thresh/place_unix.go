//go:build unix

package main

import "cmp"

// sameName reports whether two names are those of one variable.
func sameName(a, b string) bool { return a == b }

// home returns the user's home directory, "" if there is none.
func (p place) home() string { return p.getenv("HOME") }

// temp returns the directory for temporary files.
func (p place) temp() string { return cmp.Or(p.path(p.getenv("TMPDIR")), "/tmp") }
