// Command thresh runs the host on recorded sessions, serves it to agents in any language, and shows what it would do.
//
// It is a thin layer: a command parses its flags, calls one package, and prints the result. What a strategy does to a
// session, what a comparison adds up, what a plugin must fulfil is decided below, in host/internal, so that every door
// gives the same answer. Nothing imports this package.
//
// # Where things are
//
// One file holds one command and is named after it. A command whose output is a table of some size has a second file,
// <command>_text.go, with the columns and the wording of cells. Shared:
//
//   - main.go: signals, streams, exit status
//   - root.go: the flags that all commands have, and how they become a configuration and a host
//   - read.go: reading sessions, and the notes about what was not understood in them
//   - tables.go: --columns; package internal/table decides what fits the terminal
//   - progress.go: the line that shows how far a long operation is
//
// # What all commands have in common
//
// Results go to standard output and everything else to standard error, so that output can be piped and redirected
// without a flag. A command prints its result once it is complete: after an error, nothing on standard output looks
// like half a session or a report. Commands with many inputs (replay, compare) are the exception: they print what they
// have, say that it is incomplete, and fail.
//
// The exit status is 0 when done, 1 when something failed, 2 when the command was called wrongly ([usageError]). A
// check that found something (plugins verify, config explain) has failed: scripts ask for the status, not for words.
//
// With -o json a command prints one JSON document (restore: one entry a line) in a form that stays: fields are added,
// never renamed or removed. Text output is for people and may change. It fits the width of the terminal, and 80 columns
// elsewhere.
//
// Text from recordings, plugins and providers comes from strangers. Tables and package text keep control characters
// out; a command that prints such text in another way must do so too.
//
// # To add a command
//
// Write a function that returns a [cobra.Command] and takes the [app], and add it to [newRoot]. Return [usage] for
// mistakes in flags and arguments, and check them all before any work. Give it -o with [app.addOutput], and open the
// host with [app.open]: it starts no plugin before one is needed. Tests build
// the program once and run it as a user would (main_test.go, script_test.go); docs/doctest compares what the pages show
// with what the commands print.
package main
