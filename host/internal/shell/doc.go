// Package shell says which files a command line reads and writes.
//
// It is for agents that read and edit files by shell commands: Codex, mini-swe-agent and others. Start at [Effects].
// It is conservative, because what it says decides what a model no longer sees. A command reads files only if its
// output is nothing but parts of them; it writes a file only if the write certainly happened when the command
// succeeded. Whatever is not understood, is left out: variables, globs, command substitution, conditions, loops,
// functions. A write to what they name makes no earlier read stale, so that the reads stay; a later write that is
// certain does, as then the content of the read is gone whatever happened between.
//
//	effects.go   the statements of a command line, in their order
//	commands.go  what each known command reads and writes
//	words.go     words and options as a command gets them
//	annotate.go  says it in the tool call, for strategies
package shell
