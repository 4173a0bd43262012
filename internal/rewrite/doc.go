// Package rewrite is what a strategy wants to change in a history, by position: the edits of an Optimize and the pieces
// of a compressed history. [Edits] and [Pieces] work them out from what an author returned.
//
// A rewrite names what is kept instead of repeating it. That preserves ids and token counts, and keeps what a plugin
// sends back small. The host judges a rewrite in internal/check; internal/wire encodes it.
package rewrite
