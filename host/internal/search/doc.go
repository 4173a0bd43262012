// Package search finds passages of a conversation by words. It is for package window, which knows what was removed, and
// for the stores, which keep what [Indexer] makes.
//
// A conversation is cut into passages of a few lines (cut.go, passage.go), and each passage into terms (terms.go).
// Which passages have a term is the index (index.go), which a store keeps in pieces that it does not read. What a
// person or a model asks for becomes a [Query] (query.go), with other forms of its words and what means the same
// (alike.go); [Parsed.Rank] orders the passages that have its terms (rank.go), and [Parsed.Absent] names words that
// none has. Texts are not part of the index: they are read from the session's log, for the passages that are found. What
// is shown of one is the function, the hunk, the record around it (thing.go).
package search
