// Package tools knows what a tool call reads, writes and runs, for strategies that prune what a later call made stale,
// and for reports by tool and file.
//
// Start with [Taxonomy.Use]: it takes the name and the parameters of a call and says which files the call touches. A
// strategy gets its taxonomy ready made (sdk.Call.Tools); [ForPresets] builds one for a host. [Taxonomy.Judge] reads
// from a result how the call ended.
//
// A taxonomy is a list of [Rule] in JSON: first those that people configured, then the presets for known agents. For
// every call the first rule that fits decides. The package would rather know nothing than guess: without a rule that
// fits exactly no path is known, and what has no path is never pruned by path.
//
// Nothing here looks at the file system.
package tools
