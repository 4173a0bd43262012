// Package keep decides which entries of a history stay whole, whatever a strategy does: those that the setting
// compression.keep names, messages in which a person wrote <keep>…</keep>, and what the model read again.
//
// It is for package prepare, which pins what is kept before a strategy sees it, and for host/config, which checks the
// setting's patterns. Start at [Compile] and [Keeper].
//
// # What a pattern names
//
//   - A path, "docs/schema.sql" or "path:docs/schema.sql", names the results of calls that read or wrote a file whose
//     path ends like that, and messages that include one with @. The newest whole reading or writing of a file stays,
//     and what was read or changed of it since. Earlier ones may go once a newer one is kept. What is no reading at all,
//     or not a whole one, [tools.ReadingOf] knows.
//   - "tool:NAME" names the results of a tool. Of calls that ask the same, or set the same list of tasks, the newest
//     stays.
//   - "text:WORDS" names entries in which these words stand.
//
// A kept result keeps its call: no strategy can part them. Calls that failed are not kept.
//
// # Whose words they are
//
// Agents send files, outputs and reminders in a person's name. forms.go has the forms in which each does so, and where in
// them a person speaks; what no agent is known to mark as a person's is not a person's.
//
// # The bound
//
// Kept entries count at most a share of the window: what people marked first, then what was kept before, then the
// smallest. Nothing that is read later can push out a rule that stands at the beginning. What the model read again has
// what is left of the share, the newest first; see [Recalled].
package keep
