// Command thresh runs the host on recorded sessions, serves it to agents in any language, and shows what it would do.
//
// It is a thin layer: a command parses its flags, calls one package in host/internal, and prints the result. Nothing
// imports this package.
//
// # Where things are
//
// One file holds one command and is named after it. A command with a large table has a second file, <command>_text.go,
// with the columns and the wording of cells. Shared:
//
//   - main.go: signals, streams, exit status
//   - root.go: the commands in groups, and the flags that all of them have
//   - flags.go: how flags become a configuration and a host, and how results are printed
//   - read.go: reading sessions, and the notes about what was not understood in them
//   - tables.go: --columns; package internal/table decides what fits the terminal
//
// # What all commands have in common
//
// Results are on standard output and everything else on standard error. A command prints its result once it is
// complete: after an error, nothing on standard output looks like half a session or a report. Commands with many inputs
// (replay, compare) are the exception: they print what they have, say that it is incomplete, and fail.
//
// The exit status is 0 when done, 1 when something failed, 2 when the command was called wrongly ([usageError]). A
// check that found something (plugins verify, config explain) has failed: scripts ask for the status, not for words.
//
// With -o json a command prints one JSON document (restore: one entry a line) in a stable form: fields are added, never
// renamed or removed. Text output is for people and may change. It fits the width of the terminal, and 80 columns
// elsewhere.
//
// Text from recordings, plugins and providers comes from strangers. Tables and package text keep control characters
// out; a command that prints such text in another way must do so too.
//
// # To add a command
//
// Write a function that returns a [cobra.Command] and takes the [app], and add it to [commandGroups]. Return [usage] for
// mistakes in flags and arguments, and check them all before any work. Give it -o with [app.addOutput], and open the
// host with [app.open]. Tests build the program once and run it as a user would (main_test.go, script_test.go).
package main
