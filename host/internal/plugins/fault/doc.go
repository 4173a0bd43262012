// Package fault holds the errors of the plugin runtime: one type, [Error], around one of a list of sentinels.
//
// It is for the other packages below plugins, which make these errors, and for code that has to tell them apart.
// Package plugins re-exports what its users need. Start at [Error]: it names the plugin, the operation, the cause,
// and what to do about it. Its text is what operators read and search for, so every sentinel's text is a fixed
// phrase.
//
// The package imports nothing of thresh but package text, so that every other room of the plugin runtime can import it.
package fault
