// Package keep decides which entries of a history stay whole, whatever a strategy does: those that the setting
// compression.keep names, messages in which a person wrote <keep>…</keep>, and what the model read again.
//
// It is for package prepare, which pins what is kept before a strategy sees it, and for host/config, which checks the
// setting's patterns. Start at [Compile] and [Keeper].
//
// # What a pattern names
//
//   - A path, "docs/schema.sql" or "path:docs/schema.sql", names the results of calls that read or wrote a file whose
//     path ends like that, and messages that include one with @. The newest whole reading or writing of a file stays, and
//     what was read or changed of it since. Earlier ones are stale, and may go.
//   - "tool:NAME" names the results of a tool. Of calls that ask the same, or set the same list of tasks, the newest
//     stays.
//   - "text:WORDS" names entries in which these words stand.
//
// A kept result keeps its call: no strategy can part them. Calls that failed are not kept.
//
// # The bound
//
// Kept entries count at most a share of the window, the oldest first: rules stand at the beginning, and nothing that is
// read later can push them out. A newer reading of a file takes the place of the older one. What the model read again
// has what is left of the share, the newest first; see [Recalled].
package keep
