// Package rewrite is what a strategy wants to change in a history, by position: the edits of an Optimize and the pieces
// of a compressed history. It also works out both from what an author returned.
//
// A rewrite names what is kept instead of repeating it. That keeps ids and token counts of entries and blocks that did
// not change, and it is what travels back from a plugin. The host judges a rewrite in internal/check and applies it in
// its history; internal/wire encodes it. Nothing here knows how it travels.
//
// answer.go holds the types; diff.go and diff_blocks.go compare what came back with what was given ([Edits], [Pieces]).
package rewrite
