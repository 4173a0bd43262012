// Package text makes text fit to be shown: in an error, in a log line, on a terminal, in a table.
//
// It is internal to thresh. Text that reaches a person here often comes from a stranger: a tool's output, a plugin's
// log, a provider's error. Such text can be megabytes long and can hold escape sequences that make a terminal do
// something. Every function therefore bounds its work by the length asked for, not by the length of its input, and only
// [Clip] and [ClipMiddle] leave control characters in.
//
//   - [Clip] and [ClipMiddle] shorten text that is already trusted, at its end or in its middle.
//   - [Printable] and [Lines] replace what a terminal would act on, and keep everything else where it stands.
//   - [OneLine] is for a cell of a table: it also joins lines and drops what cannot be seen.
package text
