// Package fault holds the errors of the plugin runtime: one type, [Error], around one of a list of sentinels.
//
// It is for the other packages below plugins, which make these errors, and for code that has to tell them apart;
// package plugins re-exports what its users need. Start at [Error]. Operators search for its text, so every sentinel's
// text is a fixed phrase.
//
// It imports nothing of thresh but package text, so every room of the plugin runtime can import it.
package fault
