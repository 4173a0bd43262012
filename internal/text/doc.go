// Package text makes text fit to be shown: in an error, in a log line, on a terminal, in a table.
//
// Such text often comes from a stranger: a tool, a plugin, a provider. It can be megabytes long and can hold escape
// sequences that make a terminal do something. Every function bounds its work by the length asked for, not by the
// length of its input, and only [Clip] and [ClipMiddle] leave control characters in.
package text
