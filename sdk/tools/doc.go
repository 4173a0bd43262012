// Package tools knows what a tool call reads, writes and runs, for strategies that prune what a later call made stale,
// and for reports by tool and file.
//
// Start with [Taxonomy.Use]: it takes the name and the parameters of a call and says which files the call touches. A
// strategy gets its taxonomy ready made (sdk.Call.Tools). [ForPresets] builds one for a host.
//
// A taxonomy is data: a list of [Rule] in JSON, first those that people configured, then the presets for known agents.
// For every call the first rule that fits decides. The package would rather know nothing than guess: a tool without a
// rule, a parameter of the wrong type, a rule that does not quite fit all mean that no path is known, and what has no
// path is never pruned by path.
//
// Nothing here looks at the file system.
//
// rule.go is a rule as people write it, parse.go reads it and compile.go checks it; preset.go holds the rules for known
// agents. taxonomy.go finds the rule for a tool, use.go applies it with the help of locator.go and params.go (where in
// the parameters a path is), shell.go and patch.go (paths inside commands and patches). judge.go reads from a result
// how the call ended, with the signs of failure.go in the lines of line.go and the members of result.go.
package tools
