// Package shell says which files a command line reads and writes.
//
// It is for agents that read and edit files by shell commands: Codex, mini-swe-agent and others. Start at [Effects]. It
// is conservative, because it decides what a model no longer sees. A command reads files only if its output is nothing
// but parts of them. A write is certain if it was done whenever the command line as a whole succeeded, else possible:
//
//	certain                        possible
//	a > f                          a > f; b, as a failure of the first is not seen
//	a && b > f                     a && b > f; c
//	a > f && b                     a || b > f, ! a > f
//	a | tee f                      a | tee f; b and a > f | b
//	set -e; a > f; b               set -e; a && b > f; c
//	a || exit 1; b > f             a || exit 0; b > f and exit; b > f
//	cd d && a > f                  cd d; a > f, where f is relative
//	                               a > f &, (a > f), { a > f; }, and in if, for, while, case, functions
//
// A possible write makes no earlier read stale. A later certain one does: the content read is then gone whatever
// happened between. Variables, globs and command substitution are left out.
//
//	effects.go   the statements of a command line, in their order
//	commands.go  what each known command reads and writes
//	words.go     words and options as a command gets them
//	annotate.go  says it in the tool call, for strategies
package shell
