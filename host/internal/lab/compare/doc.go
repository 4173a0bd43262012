// Package compare runs recorded sessions through several strategies and settings, and measures what each saves, what it
// costs at a provider's prices, and what later turns would have missed.
//
// It is for the command `thresh compare`. Start at [Run], which returns a [Report]. Each session with each variant is
// one replay through the real host and the real plugin (package replay). A session is read and counted once for all
// variants. Except for its durations, a report does not depend on how much ran in parallel.
//
// How the files relate: run.go plans the replays and runs them. recording.go, uses.go and words.go find out what
// later turns used. observer.go folds the turns of one replay into a tally (tally.go), with the cost (bill.go), what
// a request held (held.go) and what was pruned (attribution.go, pruned.go). summary.go adds tallies up to the report
// (report.go), and warnings.go says what could be misread in it. measures.go has a row for each figure that people
// see: to add one, add its row, and its field in report.go for the JSON.
//
// # Cost
//
// Every request is priced as package pricing does: the beginning that it has in common with the request before is read
// from the provider's prompt cache, the rest is written to it, and after a pause the cache is cold. Doing nothing is
// priced in the same way, so a strategy which saves tokens but breaks the cache shows its real cost. A variant's cost
// includes the strategy's own model calls, which are reported separately too.
//
// Where the recording has usage, the provider's counts are the base ([replay.Base]): they have the system prompt, the
// tool schemas and the answers. At the prices of its own model a session is also priced by what the recorder read from
// the cache and wrote to it (cache.go), so doing nothing costs what was billed. Requests without usage in such a
// recording count nothing. Without any usage, what no history has is in no cost. A session with a model that has no
// price list is in none either: it is never priced as another model's.
//
// # Recall
//
// A recorded session shows what the agent went on to use. From every answer of the model, its text and the parameters
// of its calls, identifiers are taken: paths, names with a structure (snake_case, camelCase, dotted, hyphens with
// digits), numbers of three digits or more, hexadecimal and other ids, error codes, and quoted strings. [Recall] is
// the share of those in the unpruned context of the request that were also in what was sent: in the same entry, in
// another, or in a summary. Identifiers are compared byte by byte. The results-only share leaves out what people or
// the model itself had also written. It is the stricter one: a model repeats names, and what it repeated stays when
// the result is pruned.
//
// Recall does not tell whether the model would have answered differently, whether a name without its surroundings was
// of any use, or whether one more call could have brought it back. A strategy that replaces the content of a file but
// leaves its path keeps the recall of the path. A low recall is a reason to look at [Recall.Lost]; a high one proves
// nothing.
//
// A list of all names has a high recall, and says nothing. So [Recall.ShareLines] asks of the names that stood on a line
// with something else whether one of these lines is still there.
//
// # Needs
//
// [Needs] asks what a call needs at once. It is the share of
// calls whose every dependency was in what was sent, so far as the unpruned context had it: the identifiers in its
// paths and in its command, and each line of the text that an edit replaces. Lines are compared without the spaces at
// their ends and without the number that a tool puts in front; lines under 8 bytes are not looked for.
//
// Of the calls that lacked something, [Needs.Found] counts those for which a search over what was added up to then and
// removed, as thresh_recall makes it, finds some of that by the words of the call. A model would ask with its own
// words, which nobody recorded.
//
// The first MiB of a block is searched. A run of more than 256 bytes without a space is data, not an identifier. Of one
// answer at most 4096 identifiers count.
//
// # Own
//
// Recall and needs hardly notice when what the agent itself said, decided and wrote is gone, although that stands nowhere
// else. [Own] is the share of it that the request still held, in lines as needs has them.
//
// Recommendations go by the lower of this and [Recall.ShareLines] (vote.go): a variant must keep enough in nine of ten
// sessions, and so must the choice that all other sessions make in the one left out. What models could still answer
// follows the lower of the two more closely than any other column (docs/economics.md).
//
// # Re-reads
//
// [Rereads] counts calls that the recorded agent repeated, where the variant had pruned every earlier result of the
// same call. The agent repeated them with the earlier result at hand, often because something had changed since, so
// that no pruning caused them. But they mark results that were asked for again: a variant with many more of them than
// another prunes what is needed.
package compare
