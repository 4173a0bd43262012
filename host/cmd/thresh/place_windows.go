package main

import (
	"cmp"
	"strings"
)

// sameName reports whether two names are those of one variable.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }

// home returns the user's home directory, "" if there is none. HOME is what Git's shell sets, often to another
// directory than the one in which agents keep their files.
func (p place) home() string { return p.getenv("USERPROFILE") }

// temp returns the directory for temporary files.
func (p place) temp() string { return p.path(cmp.Or(p.getenv("TMP"), p.getenv("TEMP"), p.home())) }
